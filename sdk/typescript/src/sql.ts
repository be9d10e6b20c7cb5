/** The engine over SQL. All query text of the package is here, in sql_jobs.ts and in listener.ts. */

import {
  bindingColumns,
  deadColumns,
  findingColumns,
  groupColumns,
  logColumns,
  queueColumns,
  recordColumns,
  statsColumns,
  storedColumns,
} from "./columns.js";
import type { Queryable, Row } from "./database.js";
import { prepared, rowsOf, rowsOfOften, type Statement } from "./database.js";
import { parseExact } from "./exact.js";
import { fromDriver } from "./errors.js";
import { SqlJobs } from "./sql_jobs.js";
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
  Log,
  LogOptions,
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
  body,
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

/** Receive's own defaults, for a statement that names all arguments. */
const maxDefault = 1;
const leaseMsDefault = 30_000;

// Statements that come often, which connections prepare: they name all arguments. Each parameter stands in a text once,
// in its order, since query builders know parameters by their places only.
const sendStatement = prepared(`select weir.send($1::text, $2::text::json, key => $3::text,
    headers => $4::text::jsonb, delay => make_interval(secs => $5::text::float8 / 1000), priority => $6::text::int,
    dedup_key => $7::text)::text as result`);
const sendBatchStatement = prepared(`select result::text from weir.send_batch($1::text,
    array(select json_array_elements($2::text::json)),
    keys => (select array_agg(e) from jsonb_array_elements_text($3::text::jsonb) e),
    headers => (select array_agg(nullif(e, 'null')) from jsonb_array_elements($4::text::jsonb) e),
    delay => make_interval(secs => $5::text::float8 / 1000), priority => $6::text::int,
    dedup_keys => (select array_agg(e) from jsonb_array_elements_text($7::text::jsonb) e)) as result`);
const receiveStatement = prepared(`select ${recordColumns}
  from weir.receive_records($1::text, $2::text, max => $3::text::int,
    lease => make_interval(secs => $4::text::float8 / 1000))`);
const settlements: Record<SettleKind, Statement> = {
  ack: prepared(`select case when r.ids is null then weir.ack_all(q.name, r.claim_id)
      else weir.ack(q.name, r.claim_id, r.ids) end as result
    from (select $1::text as name) q, jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[])`),
  nack: prepared(`select weir.nack($1::text, r.claim_id, ids => r.ids,
      delay => make_interval(secs => r.delay_ms / 1000), reason => r.reason) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[], delay_ms float8, reason text)`),
  release: prepared(`select weir.release($1::text, r.claim_id, ids => r.ids) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[])`),
  snooze: prepared(`select weir.snooze($1::text, r.claim_id, ids => r.ids,
      delay => make_interval(secs => r.delay_ms / 1000)) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[], delay_ms float8)`),
  reject: prepared(`select weir.reject($1::text, r.claim_id, r.ids, reason => r.reason) as result
    from jsonb_to_recordset($2::text::jsonb) as r (claim_id bigint, ids bigint[], reason text)`),
};
const extendStatement = prepared(`select to_json(min(weir.extend($1::text, r.claim_id,
    lease => make_interval(secs => $2::text::float8 / 1000))))::text as result
  from (select e::bigint as claim_id from jsonb_array_elements_text($3::text::jsonb) e) r`);
/** A procedure, which commits after each step. */
const maintain = "call weir.maintain(every => make_interval(secs => $1::text::float8 / 1000))";

/** The engine's functions, called through a database, a connection or a transaction. */
export class SqlTransport implements Transport {
  readonly jobs = new SqlJobs(this);

  constructor(
    readonly db: Queryable,
    private readonly end: () => Promise<void> = async () => {},
  ) {}

  async send(queue: string, m: Outgoing, options: SendBatchOptions): Promise<string> {
    return this.sendText(queue, textOf(m), options);
  }

  private async sendText(queue: string, m: Text, options: SendBatchOptions): Promise<string> {
    const { payload, key, headers, dedupKey } = m;
    const params = [payload, key, headers, number(options.delayMs), number(options.priority), dedupKey];
    const [row] = await this.often(sendStatement, queue, params);
    return row?.result as string;
  }

  async sendBatch(queue: string, batch: readonly Outgoing[], options: SendBatchOptions): Promise<string[]> {
    return this.sendTexts(queue, batch.map(textOf), options);
  }

  /** Sends messages that are texts. */
  async sendTexts(queue: string, batch: readonly Text[], options: SendBatchOptions): Promise<string[]> {
    const [first, ...more] = batch;
    if (first && more.length === 0) return [await this.sendText(queue, first, options)];
    const rows = await this.often(sendBatchStatement, queue, [
      `[${batch.map((m) => m.payload).join(",")}]`,
      each(batch, (m) => json(m.key)),
      each(batch, (m) => m.headers),
      number(options.delayMs),
      number(options.priority),
      each(batch, (m) => json(m.dedupKey)),
    ]);
    return rows.map((row) => row.result as string);
  }

  async publish(topic: string, payload: unknown, options: PublishOptions): Promise<Published[]> {
    const columns =
      options.dedupKey === undefined ? "queue_name, id::text" : "queue_name, id::text, repeated";
    const rows = await this.call(columns, "publish", {
      topic: ["text", topic],
      payload: ["json", encode(payload)],
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
    const rows = await this.often(receiveStatement, at.queue, [at.group, String(max), String(leaseMs)]);
    return rows.flatMap((row) => takeApart(at, row));
  }

  async settle(kind: SettleKind, at: GroupPath, items: readonly Settlement[]): Promise<number[]> {
    const list = items.map((item) => ({
      claim_id: digits(item.claimId),
      ids: item.ids?.map(digits),
      delay_ms: item.delayMs,
      reason: item.reason,
    }));
    const rows = await this.often(settlements[kind], at.queue, [JSON.stringify(list)]);
    return rows.map((row) => Number(row.result));
  }

  async extend(at: GroupPath, claimIds: readonly Id[], leaseMs: number): Promise<Date> {
    const [row] = await this.often(extendStatement, at.queue, [number(leaseMs), list(claimIds)]);
    return time(row?.result);
  }

  async pop(at: GroupPath, max: number | undefined): Promise<Message[]> {
    return this.messages(at, "pop_records", max);
  }

  async peek(at: GroupPath, max: number | undefined): Promise<Message[]> {
    return this.messages(at, "peek_records", max);
  }

  private async messages(at: GroupPath, name: string, max: number | undefined): Promise<Message[]> {
    const rows = await this.call(recordColumns, name, { ...path(at), max: ["int", number(max)] });
    return rows.flatMap((row) => takeApart(at, row));
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
      ...body(row.body),
    }));
  }

  async redrive(at: GroupPath, ids: readonly Id[] | undefined): Promise<number> {
    return Number(await this.value("redrive", { ...path(at), ids: ["bigint[]", list(ids)] }));
  }

  async discard(at: GroupPath, ids: readonly Id[] | undefined): Promise<number> {
    return Number(await this.value("discard", { ...path(at), ids: ["bigint[]", list(ids)] }));
  }

  async createLog(log: string, o: LogOptions): Promise<boolean> {
    const made = await this.value("create_log", {
      log_name: ["text", log],
      unlogged: ["boolean", o.unlogged?.toString()],
      ...logSettings(o),
    });
    return made === "true";
  }

  async configureLog(log: string, o: ConfigureLogOptions): Promise<void> {
    await this.value("configure_log", { log_name: ["text", log], ...logSettings(o) });
  }

  async dropLog(log: string): Promise<void> {
    await this.value("drop_log", { log_name: ["text", log] });
  }

  async listLogs(): Promise<Log[]> {
    const rows = await this.call(logColumns, "list_logs", {});
    return rows.map((row) => ({
      log: row.log_name as string,
      unlogged: row.unlogged as boolean,
      segmentBytes: Number(row.segment_bytes),
      claimsBytes: Number(row.claims_bytes),
      retentionMs: Number(row.retention_s) * 1000,
      queues: Number(row.queues),
      bytes: Number(row.bytes),
      createdAt: time(row.created_at),
    }));
  }

  async createQueue(queue: string, o: QueueOptions): Promise<boolean> {
    const made = await this.value("create_queue", {
      queue_name: ["text", queue],
      ordered: ["boolean", o.ordered?.toString()],
      log: ["text", o.log],
      priorities: ["int", number(o.priorities)],
      ...queueSettings(o),
    });
    return made === "true";
  }

  async configureQueue(queue: string, o: ConfigureQueueOptions): Promise<void> {
    await this.value("configure_queue", { queue_name: ["text", queue], ...queueSettings(o) });
  }

  async renameQueue(queue: string, newName: string): Promise<void> {
    await this.value("rename_queue", { queue_name: ["text", queue], new_name: ["text", newName] });
  }

  async moveQueue(queue: string, log: string): Promise<void> {
    await this.value("move_queue", { queue_name: ["text", queue], log_name: ["text", log] });
  }

  async dropQueue(queue: string): Promise<void> {
    await this.value("drop_queue", { queue_name: ["text", queue] });
  }

  async listQueues(): Promise<Queue[]> {
    const rows = await this.call(queueColumns, "list_queues", {});
    return rows.map((row) => ({
      queue: row.queue_name as string,
      log: row.log as string,
      lanes: Number(row.lanes),
      messageBytesMax: Number(row.message_bytes_max),
      priorities: Number(row.priorities),
      agingMs: Number(row.aging_s) * 1000,
      ttlMs: Number(row.ttl_s) * 1000,
      dedupWindowMs: Number(row.dedup_window_s) * 1000,
      backlogMax: Number(row.backlog_max),
      jobRetentionMs: Number(row.job_retention_s) * 1000,
      paused: row.paused as boolean,
      createdAt: time(row.created_at),
      movingFrom: (row.moving_from as string | null) ?? undefined,
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
    return (await this.call(statsColumns, "stats", { queue_name: ["text", queue] })).map(groupStats);
  }

  async doctor(): Promise<Finding[]> {
    return (await this.call(findingColumns, "doctor", {})) as unknown as Finding[];
  }

  async maintain(everyMs: number): Promise<number> {
    const [row] = await this.run(maintain, [String(everyMs)]);
    return Number(row?.steps);
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

  /** Runs a statement about a queue that connections prepare. */
  private async often(
    statement: Statement,
    queue: string,
    params: readonly (string | null | undefined)[],
  ): Promise<Row[]> {
    try {
      return await rowsOfOften(
        this.db,
        statement,
        [queue, ...params].map((param) => param ?? null),
      );
    } catch (error) {
      throw fromDriver(error);
    }
  }

  private async run(text: string, params: readonly (string | null)[]): Promise<Row[]> {
    try {
      return await rowsOf(this.db, text, params);
    } catch (error) {
      throw fromDriver(error);
    }
  }
}

/** The arguments that name a group. */
function path(at: GroupPath): Arguments {
  return { queue_name: ["text", at.queue], group_name: ["text", at.group] };
}

/** The settings of a log as arguments. */
function logSettings(o: ConfigureLogOptions): Arguments {
  return {
    segment_bytes: ["bigint", number(o.segmentBytes)],
    claims_bytes: ["bigint", number(o.claimsBytes)],
    retention: ["interval", number(o.retentionMs)],
  };
}

/** The settings of a queue as arguments. */
function queueSettings(o: ConfigureQueueOptions): Arguments {
  return {
    lanes: ["int", number(o.lanes)],
    message_bytes_max: ["int", number(o.messageBytesMax)],
    ttl: ["interval", number(o.ttlMs)],
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
    ...body(row.body),
    states: parse(row.states) as StoredMessage["states"],
    details: standings(
      (parseExact(`{"details":${String(row.details)}}`, 1) as Record<"details", Row>).details,
    ),
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
  const bodies = parse(row.bodies) as (string | null)[] | null;
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
    ...body(bodies?.[i]),
  }));
}
