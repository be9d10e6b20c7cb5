/** Calls that are made often are prepared, once for all queues, where that lasts. */

import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { Client } from "../src/index.js";
import { adminDsn, clientOf, dsn, newQueue, poolOf, queueName } from "./setup.js";

/** Makes the calls that come often. */
async function work(client: Client, queue: string): Promise<void> {
  await client.send(queue, 1, { key: 'a "key"', headers: { h: 1 } });
  await client.sendBatch(queue, [{ payload: { m: 2 } }, { payload: null, key: "k", headers: { h: 2 } }]);
  const got = await client.receive(queue, { max: 5 });
  const found = new Map(got.map((m) => [JSON.stringify(m.payload), [m.key, m.headers, m.attempt]]));
  const sent = new Map<string, unknown>([
    ["1", ['a "key"', { h: 1 }, 1]],
    ['{"m":2}', [null, null, 1]],
    ["null", ["k", { h: 2 }, 1]],
  ]);
  assert.deepEqual(found, sent);
  assert.equal(await client.ack(queue, got), 3);
}

/** The statements that a connection has prepared. */
async function preparedBy(connection: pg.ClientBase): Promise<string[]> {
  const { rows } = await connection.query("select statement from pg_prepared_statements");
  return rows.map((row) => row.statement);
}

test("a pool's connections prepare each of them once, whatever the queue, and a dropped queue is told", async (t) => {
  const pool = poolOf(t, { max: 1 });
  const client = new Client(pool, { retry: { retries: 0 } });
  const queues = [queueName(t), queueName(t)] as const;
  for (let n = 0; n < 3; n++) {
    for (const queue of queues) {
      await client.createQueue(queue);
      await work(client, queue);
      await client.send(queue, "\0").catch(() => {}); // refused
    }
    await client.dropQueue(queues[0]);
    await assert.rejects(client.ackAll(queues[0], "1"), { code: "WR001" });
    await assert.rejects(client.send(queues[0], 1), { code: "WR001" });
  }
  const connection = await pool.connect();
  const texts = await preparedBy(connection);
  connection.release();
  assert.equal(texts.length, 4);
  for (const name of ["send(", "send_batch(", "receive_records(", "ack("])
    assert.equal(texts.filter((text) => text.includes(`weir.${name}`)).length, 1, name);
});

test("calls in a connection of the caller's are prepared, too", async (t) => {
  const connection = new pg.Client(dsn);
  await connection.connect();
  t.after(() => connection.end());
  const client = new Client(connection);
  await work(client, await newQueue(t, client));
  assert.equal((await preparedBy(connection)).length, 4);
});

test("a role that was granted one queue calls the same statements", async (t) => {
  const queue = await newQueue(t, await clientOf(t, dsn));
  const admin = new pg.Pool({ connectionString: adminDsn, max: 1 });
  const name = queue.replaceAll("-", "_");
  await admin.query(`create role ${name} login password 'own'`);
  await admin.query("select weir.grant_produce($1, $2), weir.grant_consume($1, $2)", [queue, name]);
  t.after(async () => {
    await admin.query(`drop owned by ${name}`);
    await admin.query(`drop role ${name}`);
    await admin.end();
  });
  const target = new URL(dsn);
  [target.username, target.password] = [name, "own"];
  const client = await clientOf(t, target.href);
  for (let n = 0; n < 3; n++) await work(client, queue);
  await admin.query("select weir.revoke_produce($1, $2)", [queue, name]);
  await assert.rejects(client.send(queue, 1), { code: "42501" });
});
