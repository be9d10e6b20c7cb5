/** What the tests share: the server that with-weir started, and queues of their own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import type { TestContext } from "node:test";
import pg from "pg";
import { Client, type ConnectOptions, connect, type QueueOptions } from "../src/index.js";

function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with npm test`);
  return value;
}

export const dsn = given("WEIR_TEST_DSN");
export const url = given("WEIR_TEST_URL");
/** A server that asks for the token. */
export const secured = { url: given("WEIR_TEST_TOKEN_URL"), token: given("WEIR_TEST_TOKEN") };
export const adminDsn = given("WEIR_TEST_ADMIN_DSN");
/** The command `weir`. */
export const program = given("WEIR");

/** The ways to the engine. */
export const targets = { sql: dsn, http: url };

/** A client that is closed after the test. */
export async function clientOf(
  t: TestContext,
  target: string,
  options: ConnectOptions = {},
): Promise<Client> {
  const client = await connect(target, options);
  t.after(() => client.close());
  return client;
}

/** A pool that is closed after the test. */
export function poolOf(t: TestContext, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: dsn, ...config });
  pool.on("error", () => {});
  t.after(() => pool.end());
  return pool;
}

/** A `weir serve` for a database, which ends with the test; its URL. */
export async function serverOf(t: TestContext, target: string): Promise<string> {
  const child = spawn(program, ["serve", "--dsn", target, "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  const served = () => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
  await until("it serves", served);
  return served() as string;
}

/** A database of the test's own with the engine, which is dropped after it. */
export async function newDatabase(t: TestContext): Promise<{ dsn: string; pool: pg.Pool }> {
  const name = `ts-${process.pid.toString(36)}-${(queues++).toString(36)}`;
  const admin = new pg.Pool({ connectionString: adminDsn, max: 1 });
  await admin.query(`create database "${name}"`);
  const target = new URL(adminDsn);
  target.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: target.href });
  pool.on("error", () => {});
  t.after(async () => {
    await pool.end();
    await admin.query(`drop database "${name}" with (force)`);
    await admin.end();
  });
  await pool.query(await readFile(new URL("../src/engine.sql", import.meta.url), "utf8"));
  return { dsn: target.href, pool };
}

let queues = 0;

/** Drops queues; it does not keep the process. */
const cleaner = new pg.Pool({ connectionString: dsn, max: 1, allowExitOnIdle: true });

/** The name of a queue that nothing else uses; it is dropped after the test. */
export function queueName(t: TestContext): string {
  const name = `ts-${process.pid.toString(36)}-${(queues++).toString(36)}`;
  t.after(() => new Client(cleaner).dropQueue(name).catch(() => {}));
  return name;
}

/** The name of a log that nothing else uses; it is dropped after the test. */
export function logName(t: TestContext): string {
  const name = `ts_${process.pid.toString(36)}_${(queues++).toString(36)}`;
  t.after(() => new Client(cleaner).dropLog(name).catch(() => {}));
  return name;
}

/** A new queue. */
export async function newQueue(t: TestContext, client: Client, options: QueueOptions = {}): Promise<string> {
  const name = queueName(t);
  await client.createQueue(name, options);
  return name;
}

/** Waits until something is so; fails after a time that no machine needs. */
export async function until(
  what: string,
  test: () => unknown | Promise<unknown>,
  limitMs = 60_000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await test())) {
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A port that nobody serves, and that no outgoing connection takes meanwhile. */
export async function freePort(): Promise<number> {
  const port = 15_000 + Math.floor(Math.random() * 15_000);
  const probe = createConnection({ port, host: "127.0.0.1" });
  const taken = await new Promise((resolve) => {
    probe.on("connect", () => resolve(true)).on("error", () => resolve(false));
  });
  probe.destroy();
  return taken ? freePort() : port;
}

/** A promise and what fulfils it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Notes the deadlines, in ms, that workers get for their claims; of a worker it is told to hurry, many a second. */
export function renewals(t: TestContext): { deadlines: number[]; hurry: <W extends object>(worker: W) => W } {
  const deadlines: number[] = [];
  const { extend } = Client.prototype;
  t.mock.method(
    Client.prototype,
    "extend",
    async function (this: Client, ...args: Parameters<typeof extend>) {
      const deadline = await extend.apply(this, args);
      deadlines.push(deadline.getTime());
      return deadline;
    },
  );
  const hurry = <W extends object>(worker: W) => Object.assign(worker, { renewMs: 200 });
  return { deadlines, hurry };
}
