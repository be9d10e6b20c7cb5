/** The examples run as they stand, each in a database of its own. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import test, { type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { newDatabase, until } from "./setup.js";

const orders =
  "create table orders (id int primary key, items text[] not null, packed boolean not null default false)";

/** Starts an example and collects what it prints. */
function start(t: TestContext, name: string, env: object): { child: ChildProcess; said: () => string } {
  const program = fileURLToPath(new URL(`../examples/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (data) => {
    text += data;
  });
  return { child, said: () => text };
}

/** Runs an example to its end and returns what it printed. */
async function run(t: TestContext, name: string, dsn: string): Promise<string> {
  const { child, said } = start(t, name, { WEIR_DSN: dsn });
  const [code] = await once(child, "close");
  assert.equal(code, 0, said());
  return said();
}

test("plain Node: a row and a message commit together, and the message is handled", async (t) => {
  const { dsn, pool } = await newDatabase(t);
  assert.equal(await run(t, "orders", dsn), "packing tea\n");
  assert.deepEqual((await pool.query("select id from orders")).rows, [{ id: 1 }]);
});

test("Prisma: an order is stored and sent, or neither, and errors have their codes", async (t) => {
  const { dsn, pool } = await newDatabase(t);
  await pool.query(orders);
  const said = await run(t, "prisma", dsn);
  assert.equal(said, "2: an order of nothing\npacked 1\npacked 3\n2 are packed\nqueue_not_found\n");
});

test("NestJS: what is ordered is packed, and SIGTERM ends the application softly", async (t) => {
  const { dsn } = await newDatabase(t);
  const { child, said } = start(t, "nest", { WEIR_DSN: dsn, PORT: "0" });
  const url = () => /listens on (http\S+)/.exec(said())?.[1];
  await until("it listens", url);
  for (const id of [1, 2]) {
    const body = JSON.stringify({ id, items: ["tea"] });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url()}/orders`, { method: "POST", body, headers });
    assert.equal(answer.status, 201);
    assert.match(((await answer.json()) as { message: string }).message, /^\d+$/);
  }
  const packed = async () => (await fetch(`${url()}/packed`)).json();
  await until("both are packed", async () => JSON.stringify(await packed()) === "[1,2]");
  child.kill("SIGTERM");
  const [code, signal] = await once(child, "close");
  assert.ok(code === 0 || signal === "SIGTERM", `it ended with ${code}`);
});
