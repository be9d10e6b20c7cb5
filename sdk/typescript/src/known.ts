/** The names of options: a program in JavaScript that misspells one is told, not served as if it had left it out. */

import type { ClientOptions, ConnectOptions } from "./client.js";
import type { HttpOptions } from "./http.js";
import type { RetryOptions } from "./retry.js";
import type * as t from "./types.js";
import type { WorkerOptions } from "./worker_options.js";

/** The names of the options of a type: all of them, which the compiler sees to. */
type Names<O> = { readonly [K in keyof Required<O>]: 1 };

const group: Names<t.GroupOptions> = { group: 1 };
const take: Names<t.TakeOptions> = { ...group, max: 1 };
const receive: Names<t.ReceiveOptions> = { ...take, leaseMs: 1, waitMs: 1, signal: 1 };
const reject: Names<t.RejectOptions> = { reason: 1 };
const nack: Names<t.NackOptions> = { ...reject, delayMs: 1 };
const message: Names<t.Outgoing> = { payload: 1, key: 1, headers: 1, dedupKey: 1 };
const sendBatch: Names<t.SendBatchOptions> = { delayMs: 1, priority: 1, signal: 1 };
const publish: Names<t.PublishOptions> = { delayMs: 1, priority: 1, key: 1, headers: 1, dedupKey: 1 };
const send: Names<t.SendOptions> = { ...publish, signal: 1 };
const dead: Names<t.DeadOptions> = { ...group, ids: 1 };
const deadLetters: Names<t.DeadLettersOptions> = { ...take, after: 1 };
const configureQueue: Names<t.ConfigureQueueOptions> = {
  lanes: 1,
  messageBytesMax: 1,
  ttlMs: 1,
  dedupWindowMs: 1,
  backlogMax: 1,
  agingMs: 1,
  jobRetentionMs: 1,
};
const createQueue: Names<t.QueueOptions> = { ...configureQueue, ordered: 1, log: 1, priorities: 1 };
const configureLog: Names<t.ConfigureLogOptions> = { segmentBytes: 1, claimsBytes: 1, retentionMs: 1 };
const createLog: Names<t.LogOptions> = { ...configureLog, unlogged: 1 };
const configureGroup: Names<t.ConfigureGroupOptions> = {
  maxAttempts: 1,
  backoffMinMs: 1,
  backoffMaxMs: 1,
  concurrencyMax: 1,
  rateMax: 1,
  ratePeriodMs: 1,
  keyConcurrencyMax: 1,
  fair: 1,
};
const createGroup: Names<t.CreateGroupOptions> = { ...configureGroup, ordered: 1, start: 1 };
type JobBatch = Omit<t.JobOptions, "key" | "headers" | "runAt" | "uniqueKey">;
const enqueueBatch: Names<JobBatch> = { delayMs: 1, priority: 1, unique: 1, uniqueForMs: 1, tracked: 1 };
const enqueue: Names<t.JobOptions> = { ...enqueueBatch, key: 1, headers: 1, runAt: 1, uniqueKey: 1 };
const job: Names<t.OutgoingJob> = { kind: 1, args: 1, key: 1, headers: 1, runAt: 1, uniqueKey: 1 };
const stepJob: Names<t.StepJob> = { kind: 1, args: 1, name: 1, key: 1, headers: 1 };
const step: Names<t.Step> = { ...stepJob, after: 1, afterAll: 1 };
const workflow: Names<t.WorkflowOptions> = { name: 1 };
const nextTimes: Names<t.NextTimesOptions> = { timeZone: 1, n: 1 };
const schedule: Names<t.ScheduleOptions> = {
  cron: 1,
  everyMs: 1,
  timeZone: 1,
  missed: 1,
  key: 1,
  headers: 1,
  priority: 1,
  unique: 1,
  tracked: 1,
};
const worker: Names<WorkerOptions> = {
  group: 1,
  concurrency: 1,
  prefetch: 1,
  cooldownMs: 1,
  leaseMs: 1,
  timeoutMs: 1,
  graceMs: 1,
  stopTimeoutMs: 1,
  maintain: 1,
  middleware: 1,
  jobs: 1,
  onError: 1,
};
const retry: Names<RetryOptions> = { retries: 1, delayMinMs: 1, delayMaxMs: 1 };
const http: Names<HttpOptions> = { headers: 1, timeoutMs: 1, fetch: 1 };
const client: Names<ClientOptions> = { retry: 1, hooks: 1 };
const connect: Names<ConnectOptions> = { ...client, pool: 1, token: 1, http: 1 };

/** What each takes, by the name under which it is refused. */
const known = {
  client,
  configureGroup,
  configureLog,
  configureQueue,
  connect,
  createGroup,
  createLog,
  createQueue,
  deadLetters,
  discard: dead,
  enqueue,
  enqueueBatch,
  http,
  job,
  message,
  nack,
  nextTimes,
  pause: group,
  peek: take,
  pop: take,
  publish,
  purge: group,
  receive,
  redrive: dead,
  reject,
  resume: group,
  retry,
  schedule,
  send,
  sendBatch,
  startBatch: workflow,
  startChain: workflow,
  startWorkflow: workflow,
  step,
  stepJob,
  worker,
} as const;

/** Refuses options that a call does not know, and says which one is meant. */
export function only(call: keyof typeof known, options: object | undefined): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null)
    throw new TypeError(`the options of ${call} are an object, not ${JSON.stringify(options)}`);
  const names = Object.keys(known[call]);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const meant = meantBy(name, names);
    const cure = meant ? `did you mean ${meant}?` : `it knows ${names.join(", ")}`;
    throw new TypeError(`${call} has no option ${name}: ${cure}`);
  }
}

/** Does so for each item of a list. */
export function onlyEach(what: "message" | "job" | "step" | "stepJob", items: readonly object[]): void {
  for (const item of items) only(what, item);
}

/** The name that somebody may have meant: the same but for its unit and its way of writing, or with two slips. */
function meantBy(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.replaceAll("_", "").toLowerCase();
  const bare = (text: string) => plain(text).replace(/ms$/, "");
  const near = names.map((other) => [slips(plain(name), plain(other)), other] as const);
  near.sort(([a], [b]) => a - b);
  const [nearest] = near;
  return (
    names.find((other) => bare(other) === bare(name)) ??
    (nearest && nearest[0] <= (name.length < 6 ? 1 : 2) ? nearest[1] : undefined)
  );
}

/** How many letters were left out, added or exchanged between two words. */
function slips(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
