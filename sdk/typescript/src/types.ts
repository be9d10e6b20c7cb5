/** What the parts of this package have in common: messages, options and the interface to a database or a server. */

import type { GroupStats, Standing } from "./standing.js";

export type { GroupStats, Standing } from "./standing.js";

/**
 * The id of a message or a claim as this package takes it. Ids are 64-bit integers. What is returned is always a string
 * of digits: exact, and fit for JSON and for Map keys. Compare two with `BigInt(a) < BigInt(b)`.
 */
export type Id = string | bigint | number;

/** The queues of an application and the type of their payloads: `{ emails: { to: string } }`. */
export type QueueMap = Record<string, unknown>;

/** The names of the queues of a map. */
export type QueueName<Q> = Extract<keyof Q, string>;

/** Headers are a JSON object beside the payload. */
export type Headers = Record<string, unknown>;

/** One message as it was delivered. */
export interface Message<T = unknown> {
  readonly queue: string;
  readonly group: string;
  /** Rises within the queue; the same at every delivery. */
  readonly id: string;
  /** What ack, nack, reject and extend take; null when the message was only looked at. */
  readonly claimId: string | null;
  /** 1 at the first delivery. */
  readonly attempt: number;
  readonly key: string | null;
  readonly payload: T;
  /** Of a message that was sent as bytes, whose payload is null. */
  readonly body?: Uint8Array;
  readonly headers: Headers | null;
  readonly enqueuedAt: Date;
}

/** A message that is held under a claim. */
export interface ClaimedMessage<T = unknown> extends Message<T> {
  readonly claimId: string;
}

/** What names a message of a claim: what receive returned, or its two numbers. */
export interface MessageRef {
  readonly claimId: Id;
  readonly id: Id;
  /** Only the path of an HTTP request names it; `default` unless given. */
  readonly group?: string | undefined;
}

/** Messages of one claim or of several. */
export type MessageRefs = MessageRef | readonly MessageRef[];

/** One message to send. */
export interface Outgoing<T = unknown> {
  payload: T;
  /** Messages with one key stay in order in an ordered group. */
  key?: string | undefined;
  headers?: Headers | undefined;
  /** A second message with this key within the queue's window is not sent; its id is that of the first. */
  dedupKey?: string | undefined;
}

/** Options of a batch: for all of its messages. */
export interface SendBatchOptions {
  /** Deliver no earlier than this many milliseconds from now. */
  delayMs?: number | undefined;
  /** The level within the queue's priorities; see create_queue. */
  priority?: number | undefined;
  /** Ends the waiting: sendBatch then throws its reason. The messages are not sent unless their statement had begun. */
  signal?: AbortSignal | undefined;
}

/** Options of publish. */
export interface PublishOptions extends Omit<SendBatchOptions, "signal">, Omit<Outgoing, "payload"> {}

/** Options of one send. */
export interface SendOptions extends PublishOptions {
  /** Ends the waiting: send then throws its reason. The message is not sent unless its statement had begun. */
  signal?: AbortSignal | undefined;
}

/** Where publish sent a message. */
export interface Published {
  queue: string;
  id: string;
  /** The queue had a message with the dedup key; the id is that one's. */
  repeated: boolean;
}

/** Options that name a group; `default` unless given. */
export interface GroupOptions {
  group?: string | undefined;
}

/** Options of pop and peek. */
export interface TakeOptions extends GroupOptions {
  /** At most this many messages. */
  max?: number | undefined;
}

/** Options of receive. */
export interface ReceiveOptions extends TakeOptions {
  /** How long nobody else is delivered the messages; 30 seconds unless given. */
  leaseMs?: number | undefined;
  /** How long to wait for a first message; 0 unless given. */
  waitMs?: number | undefined;
  /** Ends the waiting: receive then returns no messages. */
  signal?: AbortSignal | undefined;
}

/** Options of reject. */
export interface RejectOptions {
  /** Kept with the dead letter. */
  reason?: string | undefined;
}

/** Options of nack. */
export interface NackOptions extends RejectOptions {
  /** Wait before the next delivery, 0 = at once; the group's backoff unless given. */
  delayMs?: number | undefined;
}

/** Options of redrive and discard. */
export interface DeadOptions extends GroupOptions {
  /** These dead letters; all of the group unless given. */
  ids?: readonly Id[] | undefined;
}

/** Options of deadLetters. */
export interface DeadLettersOptions extends TakeOptions {
  /** Only ids above this one: the last of the page before. */
  after?: Id | undefined;
}

/** A message as its queue holds it. */
export interface StoredMessage<T = unknown> {
  readonly queue: string;
  readonly id: string;
  readonly key: string | null;
  readonly payload: T;
  /** Of a message that was sent as bytes, whose payload is null. */
  readonly body?: Uint8Array;
  readonly headers: Headers | null;
  readonly enqueuedAt: Date;
  /** By group: how it stands to the message. */
  readonly states: Record<string, MessageState>;
  /** By group: what else is known. */
  readonly details: Record<string, Standing>;
}

/** How a group stands to a message. */
export type MessageState = "waiting" | "claimed" | "delayed" | "parked" | "dead" | "done";

/** A message that used up its attempts or was rejected. */
export interface DeadLetter<T = unknown> {
  readonly id: string;
  readonly key: string | null;
  readonly payload: T;
  /** Of a message that was sent as bytes, whose payload is null. */
  readonly body?: Uint8Array;
  readonly headers: Headers | null;
  readonly enqueuedAt: Date;
  readonly attempts: number;
  readonly diedAt: Date;
  readonly reason: string | null;
}

/** Settings of a queue that can be changed in use; what is left out stays as it is. */
export interface ConfigureQueueOptions {
  /** In so many parts its keys are shared out, 1 to 256; changed in use, order is kept. */
  lanes?: number | undefined;
  messageBytesMax?: number | undefined;
  ttlMs?: number | undefined;
  dedupWindowMs?: number | undefined;
  backlogMax?: number | undefined;
  agingMs?: number | undefined;
  /** How long ended tracked jobs and workflows can be asked for. */
  jobRetentionMs?: number | undefined;
}

/** Settings of a new queue, as weir.create_queue knows them; what is left out has the engine's default. */
export interface QueueOptions extends ConfigureQueueOptions {
  /** Whether its group `default` keeps messages of one key in order; false unless given. */
  ordered?: boolean | undefined;
  /** The log that keeps its messages, made when it is not there; `main` unless given. */
  log?: string | undefined;
  priorities?: number | undefined;
}

/** Settings of a log that can be changed in use; what is left out stays as it is. */
export interface ConfigureLogOptions {
  /** Size at which a segment is closed. */
  segmentBytes?: number | undefined;
  /** Size at which a table of the claim log is left. */
  claimsBytes?: number | undefined;
  /** How long what all groups have finished is kept at least. */
  retentionMs?: number | undefined;
}

/** Settings of a new log, as weir.create_log knows them; what is left out has the engine's default. */
export interface LogOptions extends ConfigureLogOptions {
  /** Its messages need not survive a crash of PostgreSQL. */
  unlogged?: boolean | undefined;
}

/** A log: the storage that queues share. */
export interface Log {
  readonly log: string;
  readonly unlogged: boolean;
  readonly segmentBytes: number;
  readonly claimsBytes: number;
  readonly retentionMs: number;
  /** How many queues keep their messages in it. */
  readonly queues: number;
  readonly bytes: number;
  readonly createdAt: Date;
}

/** Settings of a group that can be changed in use; what is left out stays as it is. */
export interface ConfigureGroupOptions {
  maxAttempts?: number | undefined;
  backoffMinMs?: number | undefined;
  backoffMaxMs?: number | undefined;
  /** Messages claimed and unfinished at once; 0: no limit. */
  concurrencyMax?: number | undefined;
  /** Deliveries in `ratePeriodMs`; 0: no limit. */
  rateMax?: number | undefined;
  ratePeriodMs?: number | undefined;
  /** Messages of one key claimed and unfinished at once; 0: no limit. */
  keyConcurrencyMax?: number | undefined;
  /** Keys take turns, as they do with a `keyConcurrencyMax`. */
  fair?: boolean | undefined;
}

/** Settings of a new group, as weir.create_group knows them; what is left out has the engine's default. */
export interface CreateGroupOptions extends ConfigureGroupOptions {
  ordered?: boolean | undefined;
  /** 'start', 'end' or a time. */
  start?: "start" | "end" | (string & {}) | Date | undefined;
}

/** A queue and its settings. */
export interface Queue {
  readonly queue: string;
  readonly log: string;
  /** In so many parts its keys are shared out. */
  readonly lanes: number;
  readonly messageBytesMax: number;
  readonly priorities: number;
  readonly agingMs: number;
  readonly ttlMs: number;
  readonly dedupWindowMs: number;
  /** 0: no limit. */
  readonly backlogMax: number;
  readonly jobRetentionMs: number;
  readonly paused: boolean;
  readonly createdAt: Date;
  /** The log from which it is moving to the other; undefined: it is not. */
  readonly movingFrom: string | undefined;
}

/** A group of a queue. */
export interface Group {
  readonly queue: string;
  readonly group: string;
  readonly ordered: boolean;
  readonly maxAttempts: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** 0: no limit. */
  readonly concurrencyMax: number;
  /** In ratePeriodMs; 0: no limit. */
  readonly rateMax: number;
  readonly ratePeriodMs: number;
  /** Of one key at once; 0: no limit. */
  readonly keyConcurrencyMax: number;
  /** Keys take turns, as they also do with a keyConcurrencyMax. */
  readonly fair: boolean;
  /** By itself or with its queue. */
  readonly paused: boolean;
  readonly createdAt: Date;
}

/** Messages of the topics that the pattern covers go to the queue. */
export interface Binding {
  readonly pattern: string;
  readonly queue: string;
  readonly createdAt: Date;
}

/** Something that doctor found. */
export interface Finding {
  readonly severity: "error" | "warning" | "info";
  readonly finding: string;
  /** Null: the whole database. */
  readonly queue: string | null;
  readonly group: string | null;
  readonly value: string | null;
  readonly message: string;
  readonly cure: string;
}

/** How a job is enqueued. */
export interface JobOptions {
  key?: string | undefined;
  headers?: Headers | undefined;
  /** Not before so many milliseconds have passed. */
  delayMs?: number | undefined;
  /** Not before this time. */
  runAt?: Date | undefined;
  priority?: number | undefined;
  /** Enqueued once until it is finished: by its kind and arguments. */
  unique?: boolean | undefined;
  /** Likewise, by this key. */
  uniqueKey?: string | undefined;
  /** Once in that time instead. */
  uniqueForMs?: number | undefined;
  /** Its status can be asked. */
  tracked?: boolean | undefined;
}

/** A job of a batch. */
export interface OutgoingJob {
  kind: string;
  args?: unknown;
  key?: string | undefined;
  headers?: Headers | undefined;
  runAt?: Date | undefined;
  uniqueKey?: string | undefined;
}

/** What became of a job of a batch. */
export interface Enqueued {
  readonly id: string;
  /** A job of the same unique key was there already; the id is that one's. */
  readonly repeated: boolean;
}

/** How a tracked job stands. */
export interface JobStatus {
  readonly id: string;
  readonly kind: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  readonly attempt: number;
  /** What its worker told last. */
  readonly progress: unknown;
  /** What its function returned. */
  readonly result: unknown;
  /** Why the last try failed, or why it was cancelled. */
  readonly error: string | null;
  readonly enqueuedAt: Date;
  readonly runAt: Date | null;
  readonly progressAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelledAt: Date | null;
}

/** When a schedule is due, by `cron` or by `everyMs`, and how its jobs are enqueued. */
export interface ScheduleOptions {
  /** Minute, hour, day of the month, month, day of the week; or "@daily" and the like. */
  cron?: string | undefined;
  /** How often, from now on. */
  everyMs?: number | undefined;
  /** In which cron is meant; UTC unless given. */
  timeZone?: string | undefined;
  /** What becomes of due times when nobody was there; "skip" unless given. */
  missed?: "skip" | "once" | "all" | undefined;
  key?: string | undefined;
  headers?: Headers | undefined;
  priority?: number | undefined;
  unique?: boolean | undefined;
  tracked?: boolean | undefined;
}

/** A job that is enqueued again and again. */
export interface Schedule {
  readonly name: string;
  readonly queue: string;
  /** Null: by everyMs. */
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly timeZone: string;
  readonly missed: "skip" | "once" | "all";
  readonly kind: string;
  readonly args: unknown;
  readonly paused: boolean;
  readonly nextAt: Date | null;
  readonly lastAt: Date | null;
  /** The job that was enqueued last. */
  readonly lastId: string | null;
  /** Why it could not be fired last. */
  readonly error: string | null;
  readonly createdAt: Date;
}

/** Options of nextTimes. */
export interface NextTimesOptions {
  /** UTC unless given. */
  timeZone?: string | undefined;
  /** How many; 10 unless given. */
  n?: number | undefined;
}

/** One job of a chain or a batch. */
export interface StepJob {
  kind: string;
  args?: unknown;
  /** Unique within the workflow; its number, from 1 on, unless given. */
  name?: string | undefined;
  key?: string | undefined;
  headers?: Headers | undefined;
}

/** One job of a workflow. */
export interface Step extends StepJob {
  /** Names of steps that stand before it in the list, which must be done. */
  after?: readonly string[] | undefined;
  /** When all others have ended, however they did. */
  afterAll?: boolean | undefined;
}

/** Options of startWorkflow, startChain and startBatch. */
export interface WorkflowOptions {
  /** With a name that the queue has a workflow of, nothing is started, and the id is that one's. */
  name?: string | undefined;
}

/** A workflow to start: a chain is one whose steps come one after the other, a batch one with a callback. */
export interface NewWorkflow {
  form: "workflow" | "chain" | "batch";
  steps: readonly Step[];
  /** Of a batch. */
  callback?: Step | undefined;
  name?: string | undefined;
}

/** How a step of a workflow stands. */
export interface WorkflowStep {
  /** From 1 on, in the order in which they were given. */
  readonly no: number;
  readonly name: string;
  readonly kind: string;
  readonly after: readonly string[];
  /** "planned": it has no job yet. */
  readonly state: "planned" | "enqueued" | "done" | "failed" | "cancelled";
  /** Of its job. */
  readonly id: string | null;
  readonly result: unknown;
  readonly endedAt: Date | null;
}

/** Stands around every send of a client and every handler of its workers: see otel.ts. */
export interface Hooks {
  /**
   * Stands around what one call sends to a queue, publishes to a topic or enqueues; may send each message as another,
   * such as one with more headers, or throw to have nothing sent. A job, or a step of a workflow, is a message with its
   * arguments; the callback of a batch is the last.
   */
  sending<R>(
    destination: string,
    messages: readonly Outgoing[],
    send: (messages: readonly Outgoing[]) => Promise<R>,
  ): Promise<R>;
  /** Stands around a handler. */
  processing(message: ClaimedMessage, run: () => Promise<void>): Promise<void>;
}

/** What finishes or returns messages of one claim. */
export interface Settlement {
  claimId: Id;
  /** These messages of the claim; what is left of it unless given. */
  ids?: readonly Id[] | undefined;
  delayMs?: number | undefined;
  reason?: string | undefined;
}

/** The ways to settle. */
export type SettleKind = "ack" | "nack" | "reject" | "release" | "snooze";

/** A queue and one of its groups. */
export interface GroupPath {
  readonly queue: string;
  readonly group: string;
}

/** How a client reaches the engine. One call is one transaction, unless it runs in a caller's. */
export interface Transport {
  send(queue: string, message: Outgoing, options: SendBatchOptions): Promise<string>;
  sendBatch(queue: string, messages: readonly Outgoing[], options: SendBatchOptions): Promise<string[]>;
  publish(topic: string, payload: unknown, options: PublishOptions): Promise<Published[]>;
  bind(pattern: string, queue: string): Promise<void>;
  unbind(pattern: string, queue: string): Promise<boolean>;
  route(topic: string): Promise<string[]>;
  listBindings(): Promise<Binding[]>;
  get(queue: string, id: Id): Promise<StoredMessage | null>;
  getMany(queue: string, ids: readonly Id[]): Promise<StoredMessage[]>;
  /** Claims what is there; a transport that can waits for a first message on its own. */
  receive(at: GroupPath, options: ReceiveOptions): Promise<ClaimedMessage[]>;
  /** Settles messages of several claims, all or none, and returns how many of each it settled. */
  settle(kind: SettleKind, at: GroupPath, items: readonly Settlement[]): Promise<number[]>;
  /** Gives claims more time, all or none, and returns the first of their deadlines. */
  extend(at: GroupPath, claimIds: readonly Id[], leaseMs: number): Promise<Date>;
  pop(at: GroupPath, max: number | undefined): Promise<Message[]>;
  peek(at: GroupPath, max: number | undefined): Promise<Message[]>;
  deadLetters(at: GroupPath, options: DeadLettersOptions): Promise<DeadLetter[]>;
  redrive(at: GroupPath, ids: readonly Id[] | undefined): Promise<number>;
  discard(at: GroupPath, ids: readonly Id[] | undefined): Promise<number>;
  createLog(log: string, options: LogOptions): Promise<boolean>;
  configureLog(log: string, options: ConfigureLogOptions): Promise<void>;
  dropLog(log: string): Promise<void>;
  listLogs(): Promise<Log[]>;
  createQueue(queue: string, options: QueueOptions): Promise<boolean>;
  configureQueue(queue: string, options: ConfigureQueueOptions): Promise<void>;
  renameQueue(queue: string, newName: string): Promise<void>;
  moveQueue(queue: string, log: string): Promise<void>;
  dropQueue(queue: string): Promise<void>;
  listQueues(): Promise<Queue[]>;
  createGroup(at: GroupPath, options: CreateGroupOptions): Promise<void>;
  configureGroup(at: GroupPath, options: ConfigureGroupOptions): Promise<void>;
  dropGroup(at: GroupPath): Promise<void>;
  listGroups(queue: string): Promise<Group[]>;
  seek(at: GroupPath, position: string): Promise<void>;
  pause(queue: string, group: string | undefined): Promise<void>;
  resume(queue: string, group: string | undefined): Promise<void>;
  purge(queue: string, group: string | undefined): Promise<number>;
  stats(queue: string | undefined): Promise<GroupStats[]>;
  doctor(): Promise<Finding[]>;
  maintain(everyMs: number): Promise<number>;
  version(): Promise<string>;
  close(): Promise<void>;
  readonly jobs: JobTransport;
}

/** How a client reaches the engine for jobs, schedules and workflows. */
export interface JobTransport {
  enqueue(queue: string, kind: string, args: unknown, options: JobOptions): Promise<string>;
  enqueueBatch(queue: string, jobs: readonly OutgoingJob[], options: JobOptions): Promise<Enqueued[]>;
  job(queue: string, id: Id): Promise<JobStatus | null>;
  cancel(queue: string, id: Id, reason: string | undefined): Promise<string>;
  /** Which jobs of claims were cancelled: their ids. */
  cancelled(queue: string, claimIds: readonly Id[]): Promise<string[]>;
  progress(queue: string, job: MessageRef, value: unknown): Promise<boolean>;
  finish(queue: string, job: MessageRef, result: unknown): Promise<number>;
  schedule(name: string, queue: string, kind: string, args: unknown, options: ScheduleOptions): Promise<Date>;
  unschedule(name: string): Promise<boolean>;
  pauseSchedule(name: string): Promise<void>;
  resumeSchedule(name: string): Promise<void>;
  listSchedules(queue: string | undefined): Promise<Schedule[]>;
  nextTimes(cron: string, options: NextTimesOptions): Promise<Date[]>;
  startWorkflow(queue: string, workflow: NewWorkflow): Promise<string>;
  workflow(queue: string, id: Id): Promise<WorkflowStep[]>;
}

/** The digits of an id; a number that JavaScript cannot hold exactly is refused with a TypeError. */
export function digits(id: Id): string {
  const text = String(id);
  if (typeof id === "number" ? !Number.isSafeInteger(id) : !/^-?\d{1,19}$/.test(text)) {
    throw new TypeError(`${text} is not an id: pass the string that this package returned, or a bigint`);
  }
  return text;
}

/** A job as the engine and the server take it. */
export function jobItem({ kind, args = {}, key, headers, runAt, uniqueKey }: OutgoingJob) {
  return { kind, args, key, headers, run_at: runAt, unique_key: uniqueKey };
}

/** A step as the engine and the server take it. */
export function stepItem({ kind, args = {}, name, key, headers, after, afterAll }: Step) {
  return { kind, args, name, key, headers, after, after_all: afterAll };
}
