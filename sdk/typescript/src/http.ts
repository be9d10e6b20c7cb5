/** The engine over HTTP, as `weir serve` offers it. */

import { Code, disconnected, fromFetch, fromProblem, refuse, WeirError } from "./errors.js";
import { parseExact } from "./exact.js";
import { HttpJobs, ofClaim } from "./http_jobs.js";
import { groupPath, query, queuePath } from "./paths.js";
import { groupStats, standings } from "./standing.js";
import type {
  Binding,
  ClaimedMessage,
  ConfigureGroupOptions,
  ConfigureLogOptions,
  ConfigureQueueOptions,
  CreateGroupOptions,
  DeadLetter,
  DeadLettersOptions,
  Finding,
  Group,
  GroupPath,
  GroupStats,
  Headers,
  Id,
  JobTransport,
  Log,
  LogOptions,
  Message,
  MessageRef,
  Outgoing,
  Published,
  PublishOptions,
  Queue,
  QueueOptions,
  ReceiveOptions,
  SendBatchOptions,
  SettleKind,
  Settlement,
  StoredMessage,
  Transport,
} from "./types.js";
import { digits } from "./types.js";
import { body, encode } from "./values.js";

/** How to talk to the server. */
export interface HttpOptions {
  /** Sent with every request, such as authorization. */
  headers?: Record<string, string> | undefined;
  /** How long one request may take, waiting not counted; 30 seconds unless given. */
  timeoutMs?: number | undefined;
  /** Another implementation of fetch. */
  fetch?: typeof fetch | undefined;
}

/** A token for a server, or what is asked for one before each request. */
export type Token = string | (() => string | Promise<string>);

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the server checks bodies
export type Json = any;

/** What is special about a request. */
export interface Request {
  /** How long the server may wait before it answers. */
  waitMs?: number | undefined;
  /** Ends the request. */
  signal?: AbortSignal | undefined;
  /** How deep the ids lie in the answer. */
  idDepth?: number;
}

/** What a transaction over HTTP has gathered. */
export interface Gathered {
  acks: string[];
  finishes: string[];
  sends: string[];
}

/** What a request was answered with. */
interface Answer {
  status: number;
  answer: Json;
}

/** The status of an answer to a PUT that made what was not there. */
const madeStatus = 201;

/** The routes of a server. */
export class HttpTransport implements Transport {
  readonly jobs = new HttpJobs(this);
  private readonly base: string;

  constructor(
    url: string,
    private readonly options: HttpOptions = {},
    private readonly token?: Token,
  ) {
    this.base = url.replace(/\/+$/, "");
  }

  async send(queue: string, m: Outgoing, options: SendBatchOptions): Promise<string> {
    const [id] = await this.sendBatch(queue, [m], options);
    return id as string;
  }

  async sendBatch(queue: string, batch: readonly Outgoing[], options: SendBatchOptions): Promise<string[]> {
    if (batch.length === 0) return [];
    const { ids } = await this.call("POST", `${queuePath(queue)}/messages`, messagesBody(batch, options));
    return ids.map(String);
  }

  async publish(topic: string, payload: unknown, options: PublishOptions): Promise<Published[]> {
    const body = messagesBody([{ ...options, payload }], options);
    const { messages } = await this.call("POST", `${topicPath(topic)}/messages`, body, { idDepth: 5 });
    return messages[0].sent.map((s: Json) => ({
      queue: s.queue,
      id: String(s.id),
      repeated: s.repeated === true,
    }));
  }

  async bind(pattern: string, queue: string): Promise<void> {
    await this.call("PUT", `${topicPath(pattern)}/queues/${encodeURIComponent(queue)}`);
  }

  async unbind(pattern: string, queue: string): Promise<boolean> {
    const path = `${topicPath(pattern)}/queues/${encodeURIComponent(queue)}`;
    return (await this.call("DELETE", path)).unbound;
  }

  async route(topic: string): Promise<string[]> {
    return (await this.call("GET", `${topicPath(topic)}/route`)).queues;
  }

  async listBindings(): Promise<Binding[]> {
    const { bindings } = await this.call("GET", "/v1/topics");
    return bindings.map((b: Json) => ({
      pattern: b.pattern,
      queue: b.queue,
      createdAt: new Date(b.created_at),
    }));
  }

  async get(queue: string, id: Id): Promise<StoredMessage | null> {
    try {
      const m = await this.call("GET", `${queuePath(queue)}/messages/${digits(id)}`, undefined, {
        idDepth: 1,
      });
      return stored(queue, m);
    } catch (error) {
      if (error instanceof WeirError && error.code === Code.messageNotFound) return null;
      throw error;
    }
  }

  async getMany(queue: string, ids: readonly Id[]): Promise<StoredMessage[]> {
    const asked = ids.map((id) => `id=${digits(id)}`).join("&");
    const { messages } = await this.call("GET", `${queuePath(queue)}/messages?${asked}`);
    return messages.map((m: Json) => stored(queue, m));
  }

  async receive(at: GroupPath, options: ReceiveOptions): Promise<ClaimedMessage[]> {
    const { max, leaseMs: lease_ms, waitMs: wait_ms, signal } = options;
    try {
      const body = JSON.stringify({ max, lease_ms, wait_ms });
      const { messages } = await this.call("POST", `${groupPath(at)}/receive`, body, {
        waitMs: wait_ms,
        signal,
      });
      return messages.map((m: Json) => message(at, m));
    } catch (error) {
      if (signal?.aborted) return [];
      throw error;
    }
  }

  async settle(kind: SettleKind, at: GroupPath, items: readonly Settlement[]): Promise<number[]> {
    const body = `{"${kind}s":[${items.map((item) => claimed(item)).join(",")}]}`;
    const answer = await this.call("POST", `${groupPath(at)}/${kind}`, body);
    return answer[`${kind}s`].map((item: Json) => item.finished ?? item.snoozed);
  }

  async extend(at: GroupPath, claimIds: readonly Id[], leaseMs: number): Promise<Date> {
    const items = claimIds.map((id) => `{"claim_id":${digits(id)},"lease_ms":${Math.ceil(leaseMs)}}`);
    const answer = await this.call("POST", `${groupPath(at)}/extend`, `{"extends":[${items.join(",")}]}`);
    return new Date(Math.min(...answer.extends.map((e: Json) => Date.parse(e.deadline))));
  }

  async pop(at: GroupPath, max: number | undefined): Promise<Message[]> {
    const { messages } = await this.call("POST", `${groupPath(at)}/pop`, JSON.stringify({ max }));
    return messages.map((m: Json) => message(at, m));
  }

  async peek(at: GroupPath, max: number | undefined): Promise<Message[]> {
    const { messages } = await this.call("GET", `${groupPath(at)}/peek${query({ max })}`);
    return messages.map((m: Json) => ({ ...message(at, m), claimId: null }));
  }

  async deadLetters(at: GroupPath, o: DeadLettersOptions): Promise<DeadLetter[]> {
    const after = o.after === undefined ? undefined : digits(o.after);
    const answer = await this.call("GET", `${groupPath(at)}/dead_letters${query({ max: o.max, after })}`);
    return answer.dead_letters.map((d: Json) => ({
      id: String(d.id),
      key: d.key,
      payload: d.payload,
      headers: d.headers,
      enqueuedAt: new Date(d.enqueued_at),
      attempts: d.attempts,
      diedAt: new Date(d.died_at),
      reason: d.reason,
      ...body(d.body),
    }));
  }

  async redrive(at: GroupPath, ids: readonly Id[] | undefined): Promise<number> {
    return (await this.call("POST", `${groupPath(at)}/redrive`, idsBody(ids))).redriven;
  }

  async discard(at: GroupPath, ids: readonly Id[] | undefined): Promise<number> {
    return (await this.call("POST", `${groupPath(at)}/discard`, idsBody(ids))).discarded;
  }

  async createLog(log: string, o: LogOptions): Promise<boolean> {
    const body = JSON.stringify({ unlogged: o.unlogged, ...logSettings(o) });
    return (await this.request("PUT", logPath(log), body)).status === madeStatus;
  }

  async configureLog(log: string, o: ConfigureLogOptions): Promise<void> {
    await this.call("PATCH", logPath(log), JSON.stringify(logSettings(o)));
  }

  async dropLog(log: string): Promise<void> {
    await this.call("DELETE", logPath(log));
  }

  async listLogs(): Promise<Log[]> {
    const { logs } = await this.call("GET", "/v1/logs");
    return logs.map((l: Json) => ({
      log: l.log,
      unlogged: l.unlogged,
      segmentBytes: l.segment_bytes,
      claimsBytes: l.claims_bytes,
      retentionMs: l.retention_ms,
      queues: l.queues,
      bytes: l.bytes,
      createdAt: new Date(l.created_at),
    }));
  }

  async createQueue(queue: string, o: QueueOptions): Promise<boolean> {
    const { ordered, log, priorities } = o;
    const body = JSON.stringify({ ordered, log, priorities, ...queueSettings(o) });
    return (await this.request("PUT", queuePath(queue), body)).status === madeStatus;
  }

  async configureQueue(queue: string, o: ConfigureQueueOptions): Promise<void> {
    await this.call("PATCH", queuePath(queue), JSON.stringify(queueSettings(o)));
  }

  async renameQueue(queue: string, newName: string): Promise<void> {
    await this.call("POST", `${queuePath(queue)}/rename`, JSON.stringify({ new_name: newName }));
  }

  async moveQueue(queue: string, log: string): Promise<void> {
    await this.call("POST", `${queuePath(queue)}/move`, JSON.stringify({ log }));
  }

  async dropQueue(queue: string): Promise<void> {
    await this.call("DELETE", queuePath(queue));
  }

  async listQueues(): Promise<Queue[]> {
    const { queues } = await this.call("GET", "/v1/queues");
    return queues.map((q: Json) => ({
      queue: q.queue,
      log: q.log,
      lanes: q.lanes,
      messageBytesMax: q.message_bytes_max,
      priorities: q.priorities,
      agingMs: q.aging_ms,
      ttlMs: q.ttl_ms,
      dedupWindowMs: q.dedup_window_ms,
      backlogMax: q.backlog_max,
      jobRetentionMs: q.job_retention_ms,
      paused: q.paused,
      createdAt: new Date(q.created_at),
      movingFrom: q.moving_from,
    }));
  }

  async createGroup(at: GroupPath, o: CreateGroupOptions): Promise<void> {
    const { ordered, start } = o;
    await this.call("PUT", groupPath(at), JSON.stringify({ ordered, start, ...groupSettings(o) }));
  }

  async configureGroup(at: GroupPath, o: ConfigureGroupOptions): Promise<void> {
    await this.call("PATCH", groupPath(at), JSON.stringify(groupSettings(o)));
  }

  async dropGroup(at: GroupPath): Promise<void> {
    await this.call("DELETE", groupPath(at));
  }

  async listGroups(queue: string): Promise<Group[]> {
    const { groups } = await this.call("GET", `${queuePath(queue)}/groups`);
    return groups.map((g: Json) => ({
      queue: g.queue,
      group: g.group,
      ordered: g.ordered,
      maxAttempts: g.max_attempts,
      backoffMinMs: g.backoff_min_ms,
      backoffMaxMs: g.backoff_max_ms,
      concurrencyMax: g.concurrency_max,
      rateMax: g.rate_max,
      ratePeriodMs: g.rate_period_ms,
      keyConcurrencyMax: g.key_concurrency_max,
      fair: g.fair,
      paused: g.paused,
      createdAt: new Date(g.created_at),
    }));
  }

  async seek(at: GroupPath, position: string): Promise<void> {
    await this.call("POST", `${groupPath(at)}/seek`, JSON.stringify({ position }));
  }

  async pause(queue: string, group: string | undefined): Promise<void> {
    await this.call("POST", `${maybeGroupPath(queue, group)}/pause`);
  }

  async resume(queue: string, group: string | undefined): Promise<void> {
    await this.call("POST", `${maybeGroupPath(queue, group)}/resume`);
  }

  async purge(queue: string, group: string | undefined): Promise<number> {
    return (await this.call("POST", `${maybeGroupPath(queue, group)}/purge`)).purged;
  }

  async stats(queue: string | undefined): Promise<GroupStats[]> {
    const { groups } = await this.call("GET", `/v1/stats${query({ queue })}`);
    return groups.map(groupStats);
  }

  async doctor(): Promise<Finding[]> {
    return (await this.call("GET", "/v1/doctor")).findings;
  }

  /** The server maintains by itself. */
  async maintain(_everyMs: number): Promise<number> {
    return 0;
  }

  async version(): Promise<string> {
    return (await this.call("GET", "/v1/version")).engine;
  }

  async close(): Promise<void> {}

  /** Does what a transaction has gathered, all or nothing. */
  async commit({ acks, finishes, sends }: Gathered): Promise<void> {
    if (acks.length + finishes.length + sends.length === 0) return;
    const body = `{"acks":[${acks}],"finishes":[${finishes}],"sends":[${sends}]}`;
    await this.call("POST", "/v1/transaction", body);
  }

  /** Makes a request and reads the answer. */
  async call(method: string, path: string, body?: string, how: Request = {}): Promise<Json> {
    return (await this.request(method, path, body, how)).answer;
  }

  /** Makes a request, and returns the status that it was answered with, too. */
  private async request(method: string, path: string, body?: string, how: Request = {}): Promise<Answer> {
    const token = typeof this.token === "function" ? await this.token() : this.token;
    const { waitMs = 0, signal, idDepth } = how;
    const ended = new AbortController();
    const end = () => ended.abort();
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        end();
      },
      waitMs + (this.options.timeoutMs ?? 30_000),
    );
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
    const init: RequestInit = { method, signal: ended.signal };
    init.headers = {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...this.options.headers,
    };
    if (body !== undefined) init.body = body;
    try {
      const response = await (this.options.fetch ?? fetch)(this.base + path, init);
      const text = await response.text();
      if (!response.ok) throw fromProblem(response.status, text);
      return { status: response.status, answer: text === "" ? undefined : parseExact(text, idDepth) };
    } catch (error) {
      throw late ? disconnected(new Error("no answer in time", { cause: error }), false) : fromFetch(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }
}

/** Gathers what a transaction over HTTP does, which the server does at its end. */
export class GatheringTransport implements Pick<Transport, "send" | "sendBatch" | "settle" | "close"> {
  readonly gathered: Gathered = { acks: [], finishes: [], sends: [] };
  readonly jobs = refusing(new GatheringJobs(this.gathered));

  async send(queue: string, m: Outgoing, options: SendBatchOptions): Promise<string> {
    await this.sendBatch(queue, [m], options);
    return "";
  }

  async sendBatch(queue: string, batch: readonly Outgoing[], options: SendBatchOptions): Promise<string[]> {
    if (batch.length > 0) {
      const messages = messagesBody(batch, options).slice(1);
      this.gathered.sends.push(`{"queue":${JSON.stringify(queue)},${messages}`);
    }
    return [];
  }

  async settle(kind: SettleKind, at: GroupPath, items: readonly Settlement[]): Promise<number[]> {
    if (kind !== "ack") throw notGathered(kind);
    this.gathered.acks.push(...items.map((item) => claimed(item, at.queue)));
    return items.map(() => 0);
  }

  async close(): Promise<void> {}
}

/** Gathers the jobs that a transaction over HTTP finishes. */
class GatheringJobs implements Pick<JobTransport, "finish"> {
  constructor(private readonly gathered: Gathered) {}

  async finish(queue: string, job: MessageRef, result: unknown): Promise<number> {
    this.gathered.finishes.push(ofClaim(job, { queue, result }));
    return 0;
  }
}

/** The transport of a transaction over HTTP: what cannot be gathered is refused. */
export function gathering(): GatheringTransport & Transport {
  return refusing(new GatheringTransport()) as GatheringTransport & Transport;
}

/** The same, with a method that refuses wherever it has none. */
function refusing<T extends object>(target: T): T {
  return new Proxy(target, {
    get(of, name) {
      const value = Reflect.get(of, name) as unknown;
      if (value !== undefined || typeof name === "symbol" || name === "then") return value;
      return async () => {
        throw notGathered(name);
      };
    },
  });
}

function notGathered(name: string) {
  return refuse(
    "0A000",
    `${name} cannot be part of a transaction over HTTP`,
    "There send, sendBatch, ack, ackAll and finish can; for anything else connect to PostgreSQL.",
  );
}

function topicPath(topic: string): string {
  return `/v1/topics/${encodeURIComponent(topic)}`;
}

function logPath(log: string): string {
  return `/v1/logs/${encodeURIComponent(log)}`;
}

function logSettings(o: ConfigureLogOptions) {
  return { segment_bytes: o.segmentBytes, claims_bytes: o.claimsBytes, retention_ms: o.retentionMs };
}

function queueSettings(o: ConfigureQueueOptions) {
  return {
    lanes: o.lanes,
    message_bytes_max: o.messageBytesMax,
    ttl_ms: o.ttlMs,
    dedup_window_ms: o.dedupWindowMs,
    backlog_max: o.backlogMax,
    aging_ms: o.agingMs,
    job_retention_ms: o.jobRetentionMs,
  };
}

function groupSettings(o: ConfigureGroupOptions) {
  return {
    max_attempts: o.maxAttempts,
    backoff_min_ms: o.backoffMinMs,
    backoff_max_ms: o.backoffMaxMs,
    concurrency_max: o.concurrencyMax,
    rate_max: o.rateMax,
    rate_period_ms: o.ratePeriodMs,
    key_concurrency_max: o.keyConcurrencyMax,
    fair: o.fair,
  };
}

function maybeGroupPath(queue: string, group: string | undefined): string {
  return group === undefined ? queuePath(queue) : groupPath({ queue, group });
}

/** {"messages":[...]} */
function messagesBody(batch: readonly Outgoing[], o: SendBatchOptions): string {
  const list = batch.map(({ payload, key, headers, dedupKey: dedup_key }) => {
    const rest = JSON.stringify({ key, headers, dedup_key, delay_ms: o.delayMs, priority: o.priority }).slice(
      1,
      -1,
    );
    return `{"payload":${encode(payload)}${rest && ","}${rest}}`;
  });
  return `{"messages":[${list.join(",")}]}`;
}

/** One claim of a body. Ids are written as they are: a number of JavaScript may not hold them. */
function claimed({ claimId, ids, delayMs: delay_ms, reason }: Settlement, queue?: string): string {
  const rest = JSON.stringify({ queue, delay_ms, reason }).slice(1, -1);
  const which = ids ? `"ids":[${ids.map(digits).join(",")}]` : '"all":true';
  return `{"claim_id":${digits(claimId)},${which}${rest && ","}${rest}}`;
}

function idsBody(ids: readonly Id[] | undefined): string {
  return ids ? `{"ids":[${ids.map(digits).join(",")}]}` : '{"all":true}';
}

function stored(queue: string, m: Json): StoredMessage {
  const { key, payload, headers, states } = m;
  const enqueuedAt = new Date(m.enqueued_at);
  return {
    queue,
    id: String(m.id),
    key,
    payload,
    ...body(m.body),
    headers,
    enqueuedAt,
    states,
    details: standings(m.details),
  };
}

function message(at: GroupPath, m: Json): ClaimedMessage {
  return {
    ...at,
    id: String(m.id),
    claimId: String(m.claim_id),
    attempt: m.attempt,
    key: m.key,
    payload: m.payload,
    ...body(m.body),
    headers: m.headers as Headers | null,
    enqueuedAt: new Date(m.enqueued_at),
  };
}
