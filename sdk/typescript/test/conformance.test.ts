/** Plays the cases of sdk/conformance: over SQL, and over HTTP, with and without a token. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test, { type TestContext } from "node:test";
import { type Client, type GroupStats, type MessageRef, WeirError } from "../src/index.js";
import { clientOf, dsn, logName, queueName, secured, url } from "./setup.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- cases are JSON
type Json = any;

interface Step {
  call?: string;
  args?: Record<string, Json>;
  expect?: Json;
  error?: string;
  save?: string;
  transaction?: Step[];
  rollback?: boolean;
  outside?: boolean;
}

const folder = new URL("../../../conformance/cases/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
assert.ok(files.length > 0, "there are cases");

/** The ways over which a transport's cases are played, each with a client for a test. */
const ways: Record<string, Record<string, (t: TestContext) => Promise<Client>>> = {
  sql: {
    sql: (t) => clientOf(t, dsn),
  },
  http: {
    http: (t) => clientOf(t, url),
    token: (t) => clientOf(t, secured.url, { token: secured.token }),
  },
};

for (const file of files) {
  const {
    about,
    steps,
    transports = ["sql", "http"],
  } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
  for (const transport of transports as string[]) {
    for (const [way, client] of Object.entries(ways[transport] ?? {})) {
      test(`${way}: ${file.replace(".json", "")}: ${about}`, async (t) => {
        await new Play(t, await client(t)).all(steps);
      });
    }
  }
}

/** One case being played. */
class Play {
  private readonly variables: Record<string, Json> = {};

  constructor(
    t: TestContext,
    private readonly client: Client,
  ) {
    for (const name of ["q", "q2", "q3"]) this.variables[name] = queueName(t);
    this.variables.log = logName(t); // after its queues, as both are dropped in this order
  }

  async all(steps: Step[], client = this.client): Promise<void> {
    for (const step of steps) await this.play(step, step.outside ? this.client : client);
  }

  private async play(step: Step, client: Client): Promise<void> {
    const about = JSON.stringify(step);
    const doing = step.transaction ? this.transact(step, client) : this.call(step, client);
    if (step.error) {
      const code = await doing.then(
        () => "none",
        (error) => (error instanceof WeirError ? error.code : String(error)),
      );
      assert.equal(code, step.error, about);
      return;
    }
    const result = await doing;
    if (step.save) this.variables[step.save] = result;
    if (step.expect !== undefined) match(this.fill(step.expect), result, about);
  }

  private async transact(step: Step, client: Client): Promise<void> {
    const undo = new Error("rolled back as the case wants");
    const done = client.transaction(async (tx) => {
      await this.all(step.transaction ?? [], tx);
      if (step.rollback) throw undo;
    });
    if (step.rollback) await assert.rejects(done, undo);
    else await done;
  }

  private async call(step: Step, client: Client): Promise<Json> {
    const call = calls[step.call ?? ""];
    assert.ok(call, `the runner does not know ${step.call}`);
    return plain(await call(client, this.fill(step.args ?? {})));
  }

  /** Puts variables in. */
  private fill(value: Json): Json {
    if (typeof value === "string") {
      if (value.startsWith("$$")) return value.slice(1);
      if (!/^\$\w/.test(value)) return value.replace(/\$\{(\w+)\}/g, (_, name) => this.variables[name]);
      return value
        .slice(1)
        .split(".")
        .reduce((at: Json, name) => at[name], this.variables);
    }
    if (Array.isArray(value)) return value.map((item) => this.fill(item));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, this.fill(v)]));
  }
}

/** The arguments of the cases as this package names them. */
function options(args: Json): Json {
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [camel(name), value]));
}

/** A message as a receive of the case gave it, or its numbers. */
const ref = ({ claim_id, id }: Json): MessageRef => ({ claimId: claim_id, id });
const refs = (messages: Json) => (Array.isArray(messages) ? messages.map(ref) : ref(messages));

const calls: Record<string, (client: Client, args: Json) => Promise<Json>> = {
  send: (c, { queue, payload, ...rest }) => c.send(queue, payload, options(rest)),
  send_batch: (c, { queue, messages, ...rest }) => c.sendBatch(queue, messages.map(options), options(rest)),
  publish: (c, { topic, payload, ...rest }) => c.publish(topic, payload, options(rest)),
  receive: (c, { queue, ...rest }) => c.receive(queue, options(rest)),
  ack: (c, { queue, messages }) => c.ack(queue, refs(messages)),
  ack_all: (c, { queue, claim_id }) => c.ackAll(queue, claim_id),
  nack: (c, { queue, messages, ...rest }) => c.nack(queue, refs(messages), options(rest)),
  release: (c, { queue, messages }) => c.release(queue, refs(messages)),
  reject: (c, { queue, messages, ...rest }) => c.reject(queue, refs(messages), options(rest)),
  extend: (c, { queue, messages, lease_ms }) => c.extend(queue, refs(messages), lease_ms),
  pop: (c, { queue, ...rest }) => c.pop(queue, options(rest)),
  peek: (c, { queue, ...rest }) => c.peek(queue, options(rest)),
  dead_letters: (c, { queue, ...rest }) => c.deadLetters(queue, options(rest)),
  redrive: (c, { queue, ...rest }) => c.redrive(queue, options(rest)),
  discard: (c, { queue, ...rest }) => c.discard(queue, options(rest)),
  create_queue: (c, { queue, ...rest }) => c.createQueue(queue, options(rest)),
  create_group: (c, { queue, group, ...rest }) => c.createGroup(queue, group, options(rest)),
  drop_queue: (c, { queue }) => c.dropQueue(queue),
  drop_group: (c, { queue, group }) => c.dropGroup(queue, group),
  list_groups: (c, { queue }) => c.listGroups(queue),
  seek: (c, { queue, group, position }) => c.seek(queue, group, String(position)),
  pause: (c, { queue, ...rest }) => c.pause(queue, rest),
  resume: (c, { queue, ...rest }) => c.resume(queue, rest),
  purge: (c, { queue, ...rest }) => c.purge(queue, rest),
  stats: (c, { queue }): Promise<GroupStats[]> => c.stats(queue),
  get: (c, { queue, id }) => c.get(queue, id),
  get_many: (c, { queue, ids }) => c.getMany(queue, ids),
  configure_queue: (c, { queue, ...rest }) => c.configureQueue(queue, options(rest)),
  configure_group: (c, { queue, group, ...rest }) => c.configureGroup(queue, group, options(rest)),
  move_queue: (c, { queue, log }) => c.moveQueue(queue, log),
  rename_queue: (c, { queue, new_name }) => c.renameQueue(queue, new_name),
  list_queues: (c) => c.listQueues(),
  create_log: (c, { log, ...rest }) => c.createLog(log, options(rest)),
  configure_log: (c, { log, ...rest }) => c.configureLog(log, options(rest)),
  drop_log: (c, { log }) => c.dropLog(log),
  list_logs: (c) => c.listLogs(),
  bind: (c, { pattern, queue }) => c.bind(pattern, queue),
  unbind: (c, { pattern, queue }) => c.unbind(pattern, queue),
  route: (c, { topic }) => c.route(topic),
  list_bindings: (c) => c.listBindings(),
  doctor: (c) => c.doctor(),
  maintain: (c) => c.maintain(),
  version: (c) => c.version(),
  enqueue: (c, { queue, kind, args, ...rest }) => c.enqueue(queue, kind, args, options(rest)),
  enqueue_batch: (c, { queue, jobs, ...rest }) => c.enqueueBatch(queue, jobs.map(options), options(rest)),
  job: (c, { queue, id }) => c.job(queue, id),
  progress: (c, { queue, message, progress }) => c.progress(queue, ref(message), progress),
  finish: (c, { queue, message, result }) => c.finish(queue, ref(message), result),
  snooze: (c, { queue, messages, delay_ms }) => c.snooze(queue, refs(messages), delay_ms),
  cancel: (c, { queue, id, reason }) => c.cancel(queue, id, reason),
  schedule: (c, { name, queue, kind, args, ...rest }) => c.schedule(name, queue, kind, args, options(rest)),
  unschedule: (c, { name }) => c.unschedule(name),
  pause_schedule: (c, { name }) => c.pauseSchedule(name),
  resume_schedule: (c, { name }) => c.resumeSchedule(name),
  list_schedules: (c, { queue }) => c.listSchedules(queue),
  next_times: (c, { cron, ...rest }) => c.nextTimes(cron, options(rest)),
  start_workflow: (c, { queue, steps, ...rest }) => c.startWorkflow(queue, steps.map(options), rest),
  start_chain: (c, { queue, jobs, ...rest }) => c.startChain(queue, jobs.map(options), rest),
  start_batch: (c, { queue, jobs, callback, ...rest }) =>
    c.startBatch(queue, jobs.map(options), options(callback), rest),
  workflow: (c, { queue, id }) => c.workflow(queue, id),
};

/** A result in the words of the cases: fields in snake_case, ids as numbers, times as texts. */
function plain(value: Json): Json {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [snake(k), k === "payload" || k === "headers" ? v : plain(v)]),
  );
}

/** The tests that an object of one field may be. */
const tests: Record<string, (wanted: Json, got: Json, about: string) => void> = {
  $set: (_, got, about) => assert.notEqual(got, null, about),
  $length: (wanted, got, about) => assert.equal(got.length, wanted, about),
  $above: (wanted, got, about) => assert.ok(got > wanted, `${got} is not above ${wanted}: ${about}`),
  $contains: (wanted, got, about) => {
    const found = got.some((item: Json) => matches(wanted, item));
    assert.ok(found, `${JSON.stringify(wanted)} is not in ${JSON.stringify(got)}: ${about}`);
  },
  $exact: (wanted, got, about) => {
    assert.deepEqual(Object.keys(got).sort(), Object.keys(wanted).sort(), about);
    match(wanted, got, about);
  },
  $unordered: (wanted, got, about) => {
    const left = [...got];
    for (const item of wanted) {
      const i = left.findIndex((candidate) => matches(item, candidate));
      assert.ok(i >= 0, `${JSON.stringify(item)} is not in ${JSON.stringify(left)}: ${about}`);
      left.splice(i, 1);
    }
    assert.deepEqual(left, [], about);
  },
};

function match(wanted: Json, got: Json, about: string): void {
  if (wanted === null || typeof wanted !== "object") {
    assert.deepEqual(got ?? null, wanted, about);
    return;
  }
  if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(got) && got.length === wanted.length, `${JSON.stringify(got)}: ${about}`);
    for (const [i, item] of wanted.entries()) match(item, got[i], about);
    return;
  }
  const [[name, value] = ["", undefined], ...more] = Object.entries(wanted);
  const special = more.length === 0 && name.startsWith("$") ? tests[name] : undefined;
  if (special) {
    special(value, got, about);
    return;
  }
  assert.ok(got !== null && typeof got === "object", `${JSON.stringify(got)}: ${about}`);
  for (const [k, v] of Object.entries(wanted)) match(v, got[k], about);
}

function matches(wanted: Json, got: Json): boolean {
  try {
    match(wanted, got, "");
    return true;
  } catch {
    return false;
  }
}
