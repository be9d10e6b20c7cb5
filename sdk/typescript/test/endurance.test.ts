/** A worker is something to leave running: servers die under it, and jobs without number leave nothing behind. */

import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Client } from "../src/index.js";
import { clientOf, dsn, freePort, newQueue, program, until } from "./setup.js";

const limitMs = 300_000;

/** A PostgreSQL of the test's own that can be killed, and started again where it was. */
async function ownServer(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "weir-endurance-"));
  const data = ["--data-dir", join(dir, "data")];
  const options = ["up", ...data, "--port", String(await freePort()), "--listen", "127.0.0.1:0"];
  let child: ChildProcess;
  /** Tries to start it; what was killed may need a moment to be gone. */
  const up = async () => {
    const process = spawn(program, options, { stdio: ["ignore", "pipe", "pipe"] });
    child = process;
    const serves = new Promise<boolean>((resolve) => {
      let said = "";
      const read = (text: unknown) => {
        said += text;
        if (/http:\/\/127\.0\.0\.1:\d/.test(said)) resolve(true);
      };
      process.stdout.on("data", read);
      process.stderr.on("data", read);
    });
    return Promise.race([serves, once(process, "close").then(() => false)]);
  };
  const start = () => until("the server is up", up, limitMs);
  /** PostgreSQL is the child of a process whose death ends it at once, without an orderly shutdown. */
  const kill = async () => {
    const gone = once(child, "close");
    child.kill("SIGKILL");
    await gone;
  };
  t.after(async () => {
    await kill();
    await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  });
  await start();
  const { stdout } = await promisify(execFile)(program, ["dsn", ...data]);
  return { dsn: stdout.trim(), start, kill };
}

/** Numbers as messages. */
const numbered = (from: number, n: number) => Array.from({ length: n }, (_, i) => ({ payload: from + i }));

/** Whether nothing of a queue waits, is claimed or is delayed. */
async function isEmpty(client: Client, queue: string): Promise<boolean> {
  const [stats] = await client.stats(queue);
  return stats !== undefined && stats.waiting + stats.claimed + stats.delayed === 0;
}

test("a worker goes on when its server was killed, and nothing is lost", async (t) => {
  const server = await ownServer(t);
  const weir = await clientOf(t, server.dsn);
  await weir.createQueue("q");
  const done = new Set<unknown>();
  const handler = async ({ payload }: { payload: unknown }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    done.add(payload);
  };
  const worker = weir.worker("q", handler, { leaseMs: 5_000, onError: () => {} });
  const running = worker.run();
  for (const begun of [0, 300, 600]) {
    await weir.sendBatch("q", numbered(begun, 300));
    await until("it is at work", () => done.size > begun + 50, limitMs);
    const { lastError } = worker.health();
    await server.kill();
    await until("the worker notices", () => worker.health().lastError !== lastError, limitMs);
    await server.start();
    await until("all jobs have run", () => done.size === begun + 300, limitMs);
    await until("the worker is well", () => worker.health().healthy, limitMs);
  }
  await until("all is acked", () => isEmpty(weir, "q"), limitMs);
  await worker.stop();
  await running;
});

test("jobs leave nothing in the memory of a worker", async (t) => {
  const leakMaxBytes = 1_000_000; // one message kept for each job would be several times more
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const worker = weir.worker(queue, () => {});
  const running = worker.run();
  const work = async (n: number) => {
    for (let sent = 0; sent < n; sent += 1_000) await weir.sendBatch(queue, numbered(sent, 1_000));
    await until("all is acked", () => isEmpty(weir, queue), limitMs);
    await until("all is forgotten", () => worker.health().held === 0, limitMs);
    collect();
    return process.memoryUsage().heapUsed;
  };
  let before = await work(5_000);
  const grown: number[] = []; // what is kept grows each time, what the runtime makes for itself does not
  do {
    const now = await work(20_000);
    grown.push(now - before);
    before = now;
  } while (Math.min(...grown) >= leakMaxBytes && grown.length < 5);
  await worker.stop();
  await running;
  assert.ok(Math.min(...grown) < leakMaxBytes, `20,000 jobs left each time ${grown.join(", ")} bytes`);
});
