/** The engine over SQL. All query text of the package is here, in sql_jobs.ts and in listener.ts. */

import {
  bindingColumns,
  deadColumns,
  findingColumns,
  groupColumns,
  messageColumns,
  queueColumns,
  recordColumns,
  statsColumns,
  storedColumns,
} from "./columns.js";
import type { Queryable, Row } from "./database.js";
import { rowsOf, rowsOfOften } from "./database.js";
import { fromDriver, queueGone, sqlState, WeirError } from "./errors.js";
import { leaseMsDefault, maxDefault, type OwnCall, OwnCalls, type Statement } from "./own.js";
import { SqlJobs } from "./sql_jobs.js";
import type {
  Binding,
  ClaimedMessage,
  ConfigureGroupOptions,
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
  Message,
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
import {
  type Arguments,
  casts,
  each,
  encode,
  json,
  list,
  number,
  parse,
  type Text,
  textOf,
  time,
} from "./values.js";

const settlements: Record<SettleKind, string> = {
  ack: `select weir.ack($1::text, r.claim_id, ids => r.ids) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[])`,
  nack: `select weir.nack($1::text, r.claim_id, ids => r.ids,
      delay => make_interval(secs => r.delay_ms / 1000), reason => r.reason) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[], delay_ms float8, reason text)`,
  release: `select weir.release($1::text, r.claim_id, ids => r.ids) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[])`,
  snooze: `select weir.snooze($1::text, r.claim_id, ids => r.ids,
      delay => make_interval(secs => r.delay_ms / 1000)) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[], delay_ms float8)`,
  reject: `select weir.reject($1::text, r.claim_id, ids => r.ids, reason => r.reason) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[], reason text)`,
};

// What calls queues' own functions: they take all arguments, by place, and null for what is not given.
const ownCalls = {
  send: {
    verb: "send",
    text: `select {function}($1::text::jsonb, $2::text, $3::text::jsonb,
      make_interval(secs => $4::text::float8 / 1000), $5::text::int)::text as result`,
  },
  sendBatch: {
    verb: "send_batch",
    text: `select unnest({function}(
      array(select jsonb_array_elements($1::text::jsonb)),
      (select array_agg(e) from jsonb_array_elements_text($2::text::jsonb) e),
      (select array_agg(nullif(e, 'null')) from jsonb_array_elements($3::text::jsonb) e),
      make_interval(secs => $4::text::float8 / 1000), $5::text::int))::text as result`,
  },
  receive: {
    verb: "receive",
    text: `select ${recordColumns}
      from unnest({function}($1::text, $2::text::int, make_interval(secs => $3::text::float8 / 1000)))`,
  },
  ack: {
    verb: "ack",
    text: `select {function}(r.claim_id, r.ids) as result
      from jsonb_to_recordset($1::text::jsonb) as r (claim_id bigint, ids bigint[])`,
  },
};
// An older engine has no such function; a role may have been granted less. Neither is to be an error, which would end
// the caller's transaction.
const tells = `select coalesce(has_function_privilege(to_regprocedure('weir.queue_function(text,text)'), 'execute'),
  false) as tells`;
const functionName = "select weir.queue_function($1::text, $2::text) as name";
/** What the database says when a queue's own function is not there: undefined_function. */
const gone = "42883";
const inFailedTransaction = "25P02";

/** The engine's functions, called through a database, a connection or a transaction. */
export class SqlTransport implements Transport {
  readonly jobs = new SqlJobs(this);

  constructor(
    readonly db: Queryable,
    private readonly end: () => Promise<void> = async () => {},
    private readonly own = new OwnCalls(),
  ) {}

  /** The same through a connection or a transaction of the caller's. */
  within(tx: Queryable): SqlTransport {
    return new SqlTransport(tx, undefined, this.own);
  }

  async send(queue: string, m: Outgoing, options: SendBatchOptions): Promise<string> {
    return this.sendText(queue, textOf(m), options);
  }

  private async sendText(queue: string, m: Text, options: SendBatchOptions): Promise<string> {
    const args: Arguments = {
      payload: ["jsonb", m.payload],
      key: ["text", m.key],
      headers: ["jsonb", m.headers],
      delay: ["interval", number(options.delayMs)],
      priority: ["int", number(options.priority)],
    };
    const own = m.dedupKey === undefined ? ownCalls.send : undefined;
    const [row] = await this.often(own, queue, values(args), () =>
      this.call("result::text", "send", {
        queue_name: ["text", queue],
        ...args,
        dedup_key: ["text", m.dedupKey],
      }),
    );
    return row?.result as string;
  }

  async sendBatch(queue: string, batch: readonly Outgoing[], options: SendBatchOptions): Promise<string[]> {
    return this.sendBatchTexts(queue, batch.map(textOf), options);
  }

  private async sendBatchTexts(
    queue: string,
    batch: readonly Text[],
    options: SendBatchOptions,
  ): Promise<string[]> {
    const args: Arguments = {
      payloads: ["jsonb[]", `[${batch.map((m) => m.payload).join(",")}]`],
      keys: ["text[]", each(batch, (m) => json(m.key))],
      headers: ["object[]", each(batch, (m) => m.headers)],
      delay: ["interval", number(options.delayMs)],
      priority: ["int", number(options.priority)],
    };
    const dedupKeys = each(batch, (m) => json(m.dedupKey));
    const own = dedupKeys === undefined ? ownCalls.sendBatch : undefined;
    const rows = await this.often(own, queue, values(args), () =>
      this.call("result::text", "send_batch", {
        queue_name: ["text", queue],
        ...args,
        dedup_keys: ["text[]", dedupKeys],
      }),
    );
    return rows.map((row) => row.result as string);
  }

  /** Sends what callers that share a call want sent: there will be many such calls. */
  async sendShared(queue: string, batch: readonly Text[], options: SendBatchOptions): Promise<string[]> {
    const [first, ...more] = batch;
    this.own.expect(more.length > 0 ? ownCalls.sendBatch : ownCalls.send, queue);
    if (first && more.length === 0) return [await this.sendText(queue, first, options)];
    return this.sendBatchTexts(queue, batch, options);
  }

  async publish(topic: string, payload: unknown, options: PublishOptions): Promise<Published[]> {
    const columns =
      options.dedupKey === undefined ? "queue_name, id::text" : "queue_name, id::text, repeated";
    const rows = await this.call(columns, "publish", {
      topic: ["text", topic],
      payload: ["jsonb", encode(payload)],
      key: ["text", options.key],
      headers: ["jsonb", json(options.headers)],
      delay: ["interval", number(options.delayMs)],
      dedup_key: ["text", options.dedupKey],
      priority: ["int", number(options.priority)],
    });
    return rows.map((row) => ({
      queue: row.queue_name as string,
      id: row.id as string,
      repeated: row.repeated === true,
    }));
  }

  async bind(pattern: string, queue: string): Promise<void> {
    await this.value("bind", { pattern: ["text", pattern], queue_name: ["text", queue] });
  }

  async unbind(pattern: string, queue: string): Promise<boolean> {
    const was = await this.value("unbind", { pattern: ["text", pattern], queue_name: ["text", queue] });
    return was === "true";
  }

  async route(topic: string): Promise<string[]> {
    const rows = await this.call("result", "route", { topic: ["text", topic] });
    return rows.map((row) => row.result as string);
  }

  async listBindings(): Promise<Binding[]> {
    const rows = await this.call(bindingColumns, "list_bindings", {});
    return rows.map((row) => ({
      pattern: row.pattern as string,
      queue: row.queue_name as string,
      createdAt: time(row.created_at),
    }));
  }

  async get(queue: string, id: Id): Promise<StoredMessage | null> {
    const args: Arguments = { queue_name: ["text", queue], id: ["bigint", digits(id)] };
    const [row] = await this.call(storedColumns, "get", args);
    return row ? stored(queue, row) : null;
  }

  async getMany(queue: string, ids: readonly Id[]): Promise<StoredMessage[]> {
    const args: Arguments = { queue_name: ["text", queue], ids: ["bigint[]", list(ids)] };
    return (await this.call(storedColumns, "get_many", args)).map((row) => stored(queue, row));
  }

  async receive(at: GroupPath, options: ReceiveOptions): Promise<ClaimedMessage[]> {
    const { max = maxDefault, leaseMs = leaseMsDefault } = options;
    const params = [at.group, String(max), String(leaseMs)];
    const rows = await this.often(ownCalls.receive, at.queue, params, () =>
      this.call(recordColumns, "receive_records", {
        ...path(at),
        max: ["int", number(options.max)],
        lease: ["interval", number(options.leaseMs)],
      }),
    );
    return rows.flatMap((row) => takeApart(at, row));
  }

  async settle(kind: SettleKind, at: GroupPath, items: readonly Settlement[]): Promise<number[]> {
    const list = items.map((item) => ({
      claim_id: digits(item.claimId),
      ids: item.ids?.map(digits),
      delay_ms: item.delayMs,
      reason: item.reason,
    }));
    const text = JSON.stringify(list);
    const own = kind === "ack" ? ownCalls.ack : undefined;
    const rows = await this.often(own, at.queue, [text], () => this.run(settlements[kind], [at.queue, text]));
    return rows.map((row) => Number(row.result));
  }

  async extend(at: GroupPath, claimId: Id, leaseMs: number): Promise<Date> {
    const [row] = await this.call("to_json(result)::text as result", "extend", {
      queue_name: ["text", at.queue],
      claim_id: ["bigint", digits(claimId)],
      lease: ["interval", number(leaseMs)],
    });
    return time(row?.result);
  }

  async pop(at: GroupPath, max: number | undefined): Promise<Message[]> {
    return this.messages(at, "pop", max);
  }

  async peek(at: GroupPath, max: number | undefined): Promise<Message[]> {
    return this.messages(at, "peek", max);
  }

  private async messages(at: GroupPath, name: string, max: number | undefined): Promise<Message[]> {
    const rows = await this.call(messageColumns, name, { ...path(at), max: ["int", number(max)] });
    return rows.map((row) => ({
      ...at,
      id: row.id as string,
      claimId: row.claim_id as string | null,
      attempt: Number(row.attempt),
      key: row.key as string | null,
      payload: parse(row.payload),
      headers: parse(row.headers) as Headers | null,
      enqueuedAt: time(row.enqueued_at),
    }));
  }

  async deadLetters(at: GroupPath, options: DeadLettersOptions): Promise<DeadLetter[]> {
    const rows = await this.call(deadColumns, "dead_letters", {
      ...path(at),
      max: ["int", number(options.max)],
      after: ["bigint", options.after === undefined ? undefined : digits(options.after)],
    });
    return rows.map((row) => ({
      id: row.id as string,
      key: row.key as string | null,
      payload: parse(row.payload),
      headers: parse(row.headers) as Headers | null,
      enqueuedAt: time(row.enqueued_at),
      attempts: Number(row.attempts),
      diedAt: time(row.died_at),
      reason: row.reason as string | null,
    }));
  }

  async redrive(at: GroupPath, ids: readonly Id[] | undefined): Promise<number> {
    return Number(await this.value("redrive", { ...path(at), ids: ["bigint[]", list(ids)] }));
  }

  async discard(at: GroupPath, ids: readonly Id[] | undefined): Promise<number> {
    return Number(await this.value("discard", { ...path(at), ids: ["bigint[]", list(ids)] }));
  }

  async createQueue(queue: string, o: QueueOptions): Promise<void> {
    await this.value("create_queue", {
      queue_name: ["text", queue],
      lanes: ["int", number(o.lanes)],
      priorities: ["int", number(o.priorities)],
      ...queueSettings(o),
    });
  }

  async configureQueue(queue: string, o: ConfigureQueueOptions): Promise<void> {
    await this.value("configure_queue", { queue_name: ["text", queue], ...queueSettings(o) });
  }

  async renameQueue(queue: string, newName: string): Promise<void> {
    await this.value("rename_queue", { queue_name: ["text", queue], new_name: ["text", newName] });
  }

  async dropQueue(queue: string): Promise<void> {
    await this.value("drop_queue", { queue_name: ["text", queue] });
  }

  async listQueues(): Promise<Queue[]> {
    const rows = await this.call(queueColumns, "list_queues", {});
    return rows.map((row) => ({
      queue: row.queue_name as string,
      lanes: Number(row.lanes),
      messageBytesMax: Number(row.message_bytes_max),
      segmentBytes: Number(row.segment_bytes),
      claimsBytes: Number(row.claims_bytes),
      priorities: Number(row.priorities),
      agingMs: Number(row.aging_s) * 1000,
      ttlMs: Number(row.ttl_s) * 1000,
      retentionMs: Number(row.retention_s) * 1000,
      dedupWindowMs: Number(row.dedup_window_s) * 1000,
      backlogMax: Number(row.backlog_max),
      jobRetentionMs: Number(row.job_retention_s) * 1000,
      paused: row.paused as boolean,
      createdAt: time(row.created_at),
    }));
  }

  async createGroup(at: GroupPath, o: CreateGroupOptions): Promise<void> {
    await this.value("create_group", {
      ...path(at),
      ordered: ["boolean", o.ordered?.toString()],
      start: ["text", o.start instanceof Date ? o.start.toISOString() : o.start],
      ...groupSettings(o),
    });
  }

  async configureGroup(at: GroupPath, o: ConfigureGroupOptions): Promise<void> {
    await this.value("configure_group", { ...path(at), ...groupSettings(o) });
  }

  async dropGroup(at: GroupPath): Promise<void> {
    await this.value("drop_group", path(at));
  }

  async listGroups(queue: string): Promise<Group[]> {
    const rows = await this.call(groupColumns, "list_groups", { queue_name: ["text", queue] });
    return rows.map((row) => ({
      queue,
      group: row.group_name as string,
      ordered: row.ordered as boolean,
      maxAttempts: Number(row.max_attempts),
      backoffMinMs: Number(row.backoff_min_s) * 1000,
      backoffMaxMs: Number(row.backoff_max_s) * 1000,
      patienceMs: Number(row.patience_s) * 1000,
      concurrencyMax: Number(row.concurrency_max),
      rateMax: Number(row.rate_max),
      ratePeriodMs: Number(row.rate_period_s) * 1000,
      keyConcurrencyMax: Number(row.key_concurrency_max),
      fair: row.fair as boolean,
      paused: row.paused as boolean,
      createdAt: time(row.created_at),
    }));
  }

  async seek(at: GroupPath, position: string): Promise<void> {
    await this.value("seek", { ...path(at), position: ["text", position] });
  }

  async pause(queue: string, group: string | undefined): Promise<void> {
    await this.value("pause", { queue_name: ["text", queue], group_name: ["text", group] });
  }

  async resume(queue: string, group: string | undefined): Promise<void> {
    await this.value("resume", { queue_name: ["text", queue], group_name: ["text", group] });
  }

  async purge(queue: string, group: string | undefined): Promise<number> {
    return Number(await this.value("purge", { queue_name: ["text", queue], group_name: ["text", group] }));
  }

  async stats(queue: string | undefined): Promise<GroupStats[]> {
    const rows = await this.call(statsColumns, "stats", { queue_name: ["text", queue] });
    return rows.map((row) => ({
      queue: row.queue_name as string,
      group: row.group_name as string,
      waiting: Number(row.waiting),
      claimed: Number(row.claimed),
      delayed: Number(row.delayed),
      parked: Number(row.parked),
      dead: Number(row.dead),
      oldestAgeS: row.oldest_age_s === null ? null : Number(row.oldest_age_s),
      lanes: Number(row.lanes),
      segments: Number(row.segments),
      bytes: Number(row.bytes),
      heldBy: row.held_by as GroupStats["heldBy"],
    }));
  }

  async doctor(): Promise<Finding[]> {
    return (await this.call(findingColumns, "doctor", {})) as unknown as Finding[];
  }

  async maintain(everyMs: number): Promise<number> {
    return Number(await this.value("maintain", { every: ["interval", number(everyMs)] }));
  }

  async version(): Promise<string> {
    return this.value("version", {});
  }

  async close(): Promise<void> {
    await this.end();
  }

  /** Calls a function that returns one value, and returns that as a text. */
  async value(name: string, args: Arguments): Promise<string> {
    const [row] = await this.call("result::text", name, args);
    return row?.result as string;
  }

  /** Calls a function by its name and those of its arguments; columns are constants of this file. */
  async call(columns: string, name: string, args: Arguments): Promise<Row[]> {
    const given = Object.entries(args).filter(([, [, value]]) => value !== undefined);
    const passed = given.map(([argument, [type]], i) => `"${argument}" => ${casts[type](`$${i + 1}`)}`);
    return this.run(
      `select ${columns} from weir.${name}(${passed.join(", ")}) as result`,
      given.map(([, [, value]]) => value ?? null),
    );
  }

  /** Makes a call through the queue's own function where its name is known, and else through the public one. */
  private async often(
    call: OwnCall | undefined,
    queue: string,
    params: readonly (string | null)[],
    publicly: () => Promise<Row[]>,
  ): Promise<Row[]> {
    const found = call && (await this.findOwn(call, queue));
    if (!call || !found) return publicly();
    try {
      return await rowsOfOften(this.db, found, params);
    } catch (error) {
      if (sqlState(error) !== gone) throw fromDriver(error);
    }
    this.own.forget(call, queue);
    try {
      return await publicly();
    } catch (error) {
      throw error instanceof WeirError && error.code === inFailedTransaction ? queueGone(queue) : error;
    }
  }

  /** The statement that calls a queue's own function; undefined when the public one is to be called. */
  private async findOwn(call: OwnCall, queue: string): Promise<Statement | undefined> {
    const found = this.own.find(call, queue);
    if (found !== "ask") return found;
    const [told] = await this.run(tells, []);
    if (told?.tells !== true) {
      this.own.giveUp();
      return undefined;
    }
    const [row] = await this.run(functionName, [queue, call.verb]);
    return this.own.keep(call, queue, row?.name as string);
  }

  private async run(text: string, params: readonly (string | null)[]): Promise<Row[]> {
    try {
      return await rowsOf(this.db, text, params);
    } catch (error) {
      throw fromDriver(error);
    }
  }
}

/** Arguments by place. */
function values(args: Arguments): (string | null)[] {
  return Object.values(args).map(([, value]) => value ?? null);
}

/** The arguments that name a group. */
function path(at: GroupPath): Arguments {
  return { queue_name: ["text", at.queue], group_name: ["text", at.group] };
}

/** The settings of a queue as arguments. */
function queueSettings(o: ConfigureQueueOptions): Arguments {
  return {
    message_bytes_max: ["int", number(o.messageBytesMax)],
    segment_bytes: ["bigint", number(o.segmentBytes)],
    claims_bytes: ["bigint", number(o.claimsBytes)],
    ttl: ["interval", number(o.ttlMs)],
    retention: ["interval", number(o.retentionMs)],
    dedup_window: ["interval", number(o.dedupWindowMs)],
    backlog_max: ["bigint", number(o.backlogMax)],
    aging: ["interval", number(o.agingMs)],
    job_retention: ["interval", number(o.jobRetentionMs)],
  };
}

/** The settings of a group as arguments. */
function groupSettings(o: ConfigureGroupOptions): Arguments {
  return {
    max_attempts: ["int", number(o.maxAttempts)],
    backoff_min: ["interval", number(o.backoffMinMs)],
    backoff_max: ["interval", number(o.backoffMaxMs)],
    patience: ["interval", number(o.patienceMs)],
    concurrency_max: ["int", number(o.concurrencyMax)],
    rate_max: ["int", number(o.rateMax)],
    rate_period: ["interval", number(o.ratePeriodMs)],
    key_concurrency_max: ["int", number(o.keyConcurrencyMax)],
    fair: ["boolean", o.fair?.toString()],
  };
}

/** A message as its queue holds it. */
function stored(queue: string, row: Row): StoredMessage {
  return {
    queue,
    id: row.id as string,
    key: row.key as string | null,
    payload: parse(row.payload),
    headers: parse(row.headers) as Headers | null,
    enqueuedAt: time(row.enqueued_at),
    states: parse(row.states) as StoredMessage["states"],
  };
}

/** The messages of a weir.message_record, in which what they share is said once. */
function takeApart(at: GroupPath, row: Row): ClaimedMessage[] {
  const payloads = parse(row.payloads) as unknown[];
  const ids = parse(row.ids) as string[] | null;
  const attempts = parse(row.attempts) as number[] | null;
  const keys = parse(row.keys) as (string | null)[] | null;
  const headers = parse(row.headers) as (Headers | null)[] | null;
  const times = parse(row.enqueued_times) as string[] | null;
  const first = ids ? 0n : BigInt(row.first_id as string);
  return payloads.map((payload, i) => ({
    ...at,
    id: ids?.[i] ?? String(first + BigInt(i)),
    claimId: row.claim_id as string,
    attempt: attempts?.[i] ?? Number(row.attempt),
    key: keys?.[i] ?? null,
    payload,
    headers: headers?.[i] ?? null,
    enqueuedAt: times?.[i] ? new Date(times[i]) : time(row.enqueued_at),
  }));
}
