/** What cannot be connected to, and what no call knows, is refused: a retry or a default would not help. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import pg from "pg";
import { Client, connect, Worker } from "../src/index.js";
import { adminDsn, clientOf, dsn, newQueue, poolOf, until, url } from "./setup.js";

const neither = [
  "",
  " ",
  "redis://localhost",
  "htps://localhost",
  "postgresql+psycopg://weir@localhost/weir",
  "redis://localhost/?host=x",
  "localhost",
  "hots=localhost",
  "host=localhost nonsense",
];

test("what is no database and no server is refused by connect", async () => {
  for (const target of neither) await assert.rejects(connect(target), { code: "WR006" }, target);
});

test("what is one is taken, with TLS as the words of a DSN say", async (t) => {
  const at = new URL(dsn);
  const login = `user='${at.username}' password='${at.password}' dbname=${at.pathname.slice(1)}`;
  const words = `host=${at.hostname} port = ${at.port} ${login}`;
  assert.match(await (await clientOf(t, `${words} sslmode=disable`)).version(), /^\d/);
  const secure = await clientOf(t, `${words} sslmode=require`, { retry: { retries: 0 } });
  await assert.rejects(secure.version(), "the server has no TLS");
});

/** A DSN that differs. */
function changed(change: (at: URL) => void): string {
  const at = new URL(dsn);
  change(at);
  return at.href;
}

const refused = {
  "a wrong password": [changed((at) => (at.password = "wrong")), "28P01"],
  "no such role": [changed((at) => (at.username = "nobody-of-that-name")), "28P01"],
  "no such database": [changed((at) => (at.pathname = "/no-such")), "3D000"],
  "a server that speaks no TLS": [url.replace("http:", "https:"), "08001"],
} as const;

for (const [what, [target, code]] of Object.entries(refused)) {
  test(`a worker ends with what no retry cures: ${what}`, async (t) => {
    const weir = await clientOf(t, target);
    const worker = weir.worker("q", () => {}, { onError: () => {} });
    const late = setTimeout(() => void worker.stop(), 20_000);
    await assert.rejects(worker.run(), { code, retryable: false });
    clearTimeout(late);
  });
}

/** A role that has been given something. */
async function role(t: TestContext, attributes: string, grant: (name: string) => string) {
  const name = `ts_refusal_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  const admin = new pg.Pool({ connectionString: adminDsn, max: 1 });
  await admin.query(`create role ${name} login ${attributes} password 'word'`);
  await admin.query(grant(name));
  t.after(async () => {
    await admin.query("select pg_terminate_backend(pid, 60000) from pg_stat_activity where usename = $1", [
      name,
    ]);
    await admin.query(`drop owned by ${name}`);
    await admin.query(`drop role ${name}`);
    await admin.end();
  });
  return changed((at) => Object.assign(at, { username: name, password: "word" }));
}

test("a worker that may look and not receive ends with that", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const target = await role(t, "", (name) => `select weir.grant_produce('${queue}', '${name}')`);
  const worker = (await clientOf(t, target)).worker(queue, () => {}, { onError: () => {} });
  const late = setTimeout(() => void worker.stop(), 20_000);
  await assert.rejects(worker.run(), { code: "42501" });
  clearTimeout(late);
});

test("a worker waits while there are too many connections", async (t) => {
  const target = await role(t, "connection limit 0", () => "select 1");
  const worker = (await clientOf(t, target)).worker("q", () => {}, { onError: () => {} });
  const run = worker.run();
  await until("the worker to be told", () => worker.health().lastError);
  assert.equal((worker.health().lastError as { code: string }).code, "53300");
  await worker.stop();
  await run;
});

test("an option that a call does not know is refused with the one that is meant", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as a program in JavaScript calls it
  const js = weir as any;
  const calls: [meant: string, call: () => Promise<unknown>][] = [
    ["delayMs", () => js.send(queue, 1, { delay: 5000 })],
    ["dedupKey", () => js.send(queue, 1, { dedup_key: "x" })],
    ["delayMs", () => js.sendBatch(queue, [{ payload: 1 }], { delay: 1 })],
    ["dedupKey", () => js.sendBatch(queue, [{ payload: 1, dedup_key: "x" }])],
    ["priority", () => js.publish("t", 1, { prioritiy: 1 })],
    ["leaseMs", () => js.receive(queue, { lease: 1 })],
    ["max", () => js.pop(queue, { maxx: 1 })],
    ["group", () => js.peek(queue, { Group: "g" })],
    ["reason", () => js.nack(queue, { claimId: 1, id: 1 }, { raeson: "x" })],
    ["ordered", () => js.createQueue(`${queue}-x`, { orderd: true })],
    ["retentionMs", () => js.createLog("x", { retention: 1 })],
    ["maxAttempts", () => js.createGroup(queue, "g", { maxAtempts: 2 })],
    ["maxAttempts", () => js.configureGroup(queue, "default", { max_attempts: 2 })],
    ["ttlMs", () => js.createQueue(`${queue}-x`, { ttl: 1 })],
    ["uniqueKey", () => js.enqueue(queue, "k", {}, { unique_key: "x" })],
    ["runAt", () => js.enqueueBatch(queue, [{ kind: "k", run_at: new Date() }])],
    ["everyMs", () => js.schedule("s", queue, "k", {}, { every: 1000 })],
    ["timeZone", () => js.nextTimes("@daily", { timezone: "UTC" })],
    ["afterAll", () => js.startWorkflow(queue, [{ kind: "k", after_all: true }])],
    ["args", () => js.startChain(queue, [{ kind: "k", arg: 1 }])],
    ["headers", () => js.startBatch(queue, [{ kind: "k" }], { kind: "k", header: {} })],
    ["retries", async () => new Client(poolOf(t), { retry: { retrys: 1 } } as object)],
    ["token", () => connect(url, { tokken: "x" } as object)],
    ["timeoutMs", () => connect(url, { http: { timeout: 1 } } as object)],
    ["leaseMs", async () => weir.consumer(queue, { lease: 1 } as object)],
    ["concurrency", async () => new Worker(weir, queue, () => {}, { concurency: 1 } as object)],
  ];
  for (const [meant, call] of calls)
    await assert.rejects(call(), (error: Error) => {
      assert.ok(error instanceof TypeError, String(error));
      assert.match(error.message, new RegExp(`did you mean ${meant}\\?`));
      return true;
    });
  const noAfter = /stepJob has no option after: it knows kind, args, name, key, headers/;
  await assert.rejects(js.startChain(queue, [{ kind: "k", after: ["1"] }]), noAfter);
  await assert.rejects(js.createQueue(queue, { shards: 4 }), /createQueue has no option shards: /);
  await assert.rejects(js.send(queue, 1, { colour: "red" }), /it knows delayMs, /);
  await assert.rejects(js.send(queue, 1, 5000), /are an object, not 5000/);
  assert.deepEqual(await weir.peek(queue), [], "nothing was sent");
});
