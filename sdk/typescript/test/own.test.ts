/** Calls that are made often go through the queue's own function, and through the public one where that cannot be. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { type TestContext } from "node:test";
import { gunzipSync } from "node:zlib";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex from "knex";
import pg from "pg";
import {
  type ClaimedMessage,
  Client,
  fromDrizzle,
  fromKnex,
  type Queryable,
  WeirError,
} from "../src/index.js";
import { leaseMsDefault, maxDefault, OwnCalls } from "../src/own.js";
import { SqlTransport } from "../src/sql.js";
import { adminDsn, clientOf, dsn, newDatabase, newQueue, poolOf, queueName, until } from "./setup.js";

/** More calls than go through the public function before the queue's own is called. */
const enough = 12;

/** A database that notes the statements it is given. */
function watched(db: Queryable): { db: Queryable; last: () => string; texts: string[] } {
  const texts: string[] = [];
  const query = (text: string, params: unknown[]) => {
    texts.push(text);
    return db.query(text, params);
  };
  return { db: { query }, last: () => texts.at(-1) ?? "", texts };
}

/** A connection that is closed after the test. */
async function connectionOf(t: TestContext): Promise<pg.Client> {
  const connection = new pg.Client(dsn);
  await connection.connect();
  t.after(() => connection.end());
  return connection;
}

/** Makes all kinds of calls until they go through the queue's own functions, if they ever do, and checks them. */
async function warm(client: Client, queue: string, seen: (verb: string) => void = () => {}): Promise<void> {
  for (let i = 0; i < enough; i++) {
    const first = await client.send(queue, { n: i }, { key: 'a "key"', headers: { h: 1 } });
    seen("send");
    const batch = [{ payload: { m: i } }, { payload: null, key: "k", headers: { h: 2 } }];
    const ids = [first, ...(await client.sendBatch(queue, batch))];
    seen("send_batch");
    await client.send(queue, "later", { delayMs: 3_600_000 });
    const got: ClaimedMessage[] = [];
    while (got.length < 3) {
      got.push(...(await client.receive(queue, { max: 5, leaseMs: 3_600_000 })));
      seen("receive");
    }
    const found = ids.map((id) => got.find((m) => m.id === id));
    assert.deepEqual(
      found.map((m) => m && [m.payload, m.key, m.headers, m.attempt]),
      [
        [{ n: i }, 'a "key"', { h: 1 }, 1],
        [{ m: i }, null, null, 1],
        [null, "k", { h: 2 }, 1],
      ],
    );
    for (const m of got) {
      assert.equal(await client.ack(queue, m.claimId, { ids: [m.id] }), 1);
      seen("ack");
    }
  }
}

/** Sends often enough; the codes of the errors. */
async function sendAll(client: Client, queue: string): Promise<(string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  for (let n = 0; n < enough; n++) {
    codes.push(
      await client.send(queue, n).then(
        () => undefined,
        (error: unknown) => (error as WeirError).code,
      ),
    );
  }
  return codes;
}

const works = Array<undefined>(enough).fill(undefined);
const all = (code: string) => Array<string>(enough).fill(code);

test("calls go through the queue's own functions from the ninth on", async (t) => {
  const { db, last } = watched(poolOf(t));
  const client = new Client(db);
  const queue = `0-${queueName(t)}.q_q`;
  await client.createQueue(queue);
  const made: Record<string, boolean[]> = { send: [], send_batch: [], receive: [], ack: [] };
  await warm(client, queue, (verb) => made[verb]?.push(last().includes(`weir_internal."${verb}:${queue}"(`)));
  await client.dropQueue(queue);
  for (const verb of ["send_batch", "receive", "ack"]) {
    const own = made[verb] ?? [];
    assert.deepEqual(
      own,
      own.map((_, i) => i >= 8),
      verb,
    );
  }
  assert.deepEqual([made.send?.[0], made.send?.at(-1)], [false, true]);
});

test("a worker receives and acks through the queue's own functions", async (t) => {
  const plain = await clientOf(t, dsn);
  const queue = await newQueue(t, plain);
  const { db, texts } = watched(poolOf(t));
  const client = new Client(db);
  const worker = client.worker(queue, () => {});
  const run = worker.run();
  const own = (verb: string) => texts.some((text) => text.includes(`weir_internal."${verb}:${queue}"(`));
  await until("both are called", async () => {
    await plain.send(queue, "more");
    return own("receive") && own("ack");
  });
  await worker.stop();
  await run;
});

test("the queues' own functions are called through query builders, too", async (t) => {
  const plain = await clientOf(t, dsn);
  const pool = poolOf(t);
  const builder = knex({ client: "pg", connection: dsn });
  t.after(() => builder.destroy());
  for (const db of [fromKnex(builder), fromDrizzle(drizzle(pool), sql)]) {
    const noted = watched(db);
    const queue = await newQueue(t, plain);
    await warm(new Client(new SqlTransport(noted.db, undefined, new OwnCalls(0))), queue);
    assert.ok(noted.last().includes(`weir_internal."ack:${queue}"(`));
  }
});

test("a client follows queues that are renamed, dropped and made anew", async (t) => {
  const admin = await clientOf(t, dsn);
  const { db, last, texts } = watched(poolOf(t));
  const client = new Client(db, { retry: { retries: 0 } });
  const queue = await newQueue(t, admin);
  const own = () => texts.filter((text) => text.includes(`weir_internal."send:${queue}"(`)).length;
  const other = `${queue}-other`;
  const worked = async () => {
    assert.deepEqual(await sendAll(client, queue), works);
    assert.ok(last().includes(`weir_internal."send:${queue}"(`), last());
  };
  await worked();
  await admin.dropQueue(queue);
  await admin.createQueue(queue);
  await worked();
  for (const end of [() => admin.renameQueue(queue, other), () => admin.dropQueue(queue)]) {
    await end();
    const before = own();
    assert.deepEqual(await sendAll(client, queue), all("WR001"));
    assert.equal(own(), before + 1, "then it is forgotten");
    await admin.createQueue(queue);
    await worked();
  }
  const [group] = await admin.stats(other);
  assert.equal(group?.waiting, enough);
  await admin.dropQueue(other);
});

test("a transaction that meets a dropped queue is told so", async (t) => {
  const client = await clientOf(t, dsn);
  const queue = await newQueue(t, client);
  const tx = await connectionOf(t);
  const inside = async (work: () => Promise<void>) => {
    await tx.query("begin");
    try {
      await work();
    } finally {
      await tx.query("rollback");
    }
  };
  const joined = client.in(tx);
  await inside(async () => assert.deepEqual(await sendAll(joined, queue), works));
  await client.dropQueue(queue);
  await inside(async () => {
    await assert.rejects(joined.send(queue, 1), { code: "WR001", name: "queue_not_found" });
    assert.deepEqual(await sendAll(joined, queue), all("25P02"));
  });
  await client.createQueue(queue);
  await inside(async () => assert.deepEqual(await sendAll(joined, queue), works));
});

test("transactions share what their client knows, and a failed one has nothing forgotten", async (t) => {
  const noted = watched(poolOf(t));
  const client = new Client(noted.db, { retry: { retries: 0 } });
  const queue = await newQueue(t, client);
  assert.deepEqual(await sendAll(client, queue), works);
  const tx = await connectionOf(t);
  const inside = watched(tx);
  await tx.query("begin");
  await assert.rejects(tx.query("select 1 / 0"));
  const codes = await sendAll(client.in(inside.db), queue);
  await tx.query("rollback");
  assert.deepEqual(codes, all("25P02"));
  await client.in(inside.db).send(queue, "after");
  assert.ok(inside.last().includes(`weir_internal."send:${queue}"(`));
});

/** The DSN of a role that may send to a queue and receive from it, and its name. */
async function newRole(
  t: TestContext,
  queue: string,
): Promise<{ name: string; dsn: string; admin: pg.Pool }> {
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
  return { name, dsn: target.href, admin };
}

test("calls of a role that is not told names go through the public functions", async (t) => {
  const queue = await newQueue(t, await clientOf(t, dsn));
  const role = await newRole(t, queue);
  await role.admin.query(`revoke execute on function weir.queue_function(text, text) from ${role.name}`);
  await warm(await clientOf(t, role.dsn), queue);
  const tx = await poolOf(t, { connectionString: role.dsn }).connect();
  await tx.query("begin");
  const codes = await sendAll(new Client(tx), queue);
  await tx.query("commit");
  tx.release();
  assert.deepEqual(codes, works);
});

test("a right that is taken away is missed by the next call", async (t) => {
  const queue = await newQueue(t, await clientOf(t, dsn));
  const role = await newRole(t, queue);
  const client = await clientOf(t, role.dsn);
  assert.deepEqual(await sendAll(client, queue), works);
  await role.admin.query("select weir.revoke_produce($1, $2)", [queue, role.name]);
  assert.deepEqual(await sendAll(client, queue), all("42501"));
});

test("a client of an old engine calls the public functions", async (t) => {
  const script = new URL("../../../../test/upgrade/testdata/0.1.0.sql.gz", import.meta.url);
  const { dsn: old, pool } = await newDatabase(t, gunzipSync(readFileSync(script)).toString());
  const client = await clientOf(t, old);
  await client.createQueue("q");
  await warm(client, "q");
  const tx = await pool.connect();
  await tx.query("begin");
  const codes = await sendAll(new Client(tx), "q");
  await tx.query("commit");
  tx.release();
  assert.deepEqual(codes, works);
});

test("a restored queue says so until it is adopted", async (t) => {
  const { dsn: here, pool } = await newDatabase(t);
  const client = await clientOf(t, here);
  await client.createQueue("q", { lanes: 1 });
  await warm(client, "q");
  // What a dump brings has other OIDs.
  await pool.query("alter sequence weir_internal.q1_ids rename to old");
  await pool.query("create sequence weir_internal.q1_ids start 1000");
  assert.deepEqual(await sendAll(client, "q"), all("WR019"));
  await pool.query("select weir.adopt()");
  await warm(client, "q");
});

test("a client keeps 256 names at most, and has room when one is forgotten", () => {
  const call = { verb: "send", text: "select {function}()" };
  const known = new OwnCalls();
  const asks = (queue: string) => {
    const asked = Array.from({ length: enough }, () => known.find(call, queue)).includes("ask");
    if (asked) known.keep(call, queue, `weir_internal."send:${queue}"`);
    return asked;
  };
  for (let n = 0; n < 512; n++) assert.equal(known.find(call, `none${n}`), undefined); // as queues that are not there
  for (let n = 0; n < 256; n++) assert.ok(asks(`q${n}`));
  assert.ok(!asks("late"));
  const found = known.find(call, "q255");
  assert.ok(typeof found === "object" && found.text === 'select weir_internal."send:q255"()');
  known.forget(call, "q255");
  assert.ok(asks("late"));
});

test("a receive through the queue's own function has the defaults of the public one", async (t) => {
  const { db, last } = watched(poolOf(t));
  const client = new Client(db);
  const queue = await newQueue(t, client);
  for (let n = 0; n < enough; n++) {
    await client.sendBatch(queue, [{ payload: 1 }, { payload: 2 }]);
    assert.equal((await client.receive(queue)).length, 1);
    assert.ok(n < 8 || last().includes(`weir_internal."receive:${queue}"(`));
    await client.purge(queue);
  }
  const name = "weir.receive_records(text, text, int, interval)";
  const [row] = (
    await poolOf(t).query("select pg_get_function_arguments($1::regprocedure) as declared", [name])
  ).rows;
  assert.ok(row.declared.includes(`max integer DEFAULT ${maxDefault}`), row.declared);
  assert.ok(row.declared.includes(`lease interval DEFAULT '00:00:${leaseMsDefault / 1000}'`), row.declared);
});

/** The statements that a connection has prepared. */
async function preparedBy(connection: pg.ClientBase): Promise<string[]> {
  const { rows } = await connection.query("select statement from pg_prepared_statements");
  return rows.map((row) => row.statement);
}

test("calls of queues' own functions are prepared", async (t) => {
  const pool = poolOf(t, { max: 1 });
  const client = new Client(pool);
  const queue = await newQueue(t, client);
  await warm(client, queue);
  const connection = await pool.connect();
  const texts = await preparedBy(connection);
  connection.release();
  assert.ok(texts.every((text) => text.includes("weir_internal")));
  for (const verb of ["send", "send_batch", "receive", "ack"])
    assert.equal(texts.filter((text) => text.includes(`weir_internal."${verb}:${queue}"(`)).length, 1, verb);
});

test("calls in a connection of the caller's are prepared, too", async (t) => {
  const connection = await connectionOf(t);
  const client = new Client(connection);
  const queue = await newQueue(t, client);
  await warm(client, queue);
  assert.equal((await preparedBy(connection)).length, 4);
});

test("what is prepared outlives its queue, and a refused call its connection", async (t) => {
  const pool = poolOf(t, { max: 1 });
  let connections = 0;
  pool.on("connect", () => connections++);
  const client = new Client(pool, { retry: { retries: 0 } });
  const queue = queueName(t);
  for (let n = 0; n < 3; n++) {
    await client.createQueue(queue);
    await warm(client, queue);
    await client.send(queue, "\0").catch(() => {}); // refused by the own function
    await client.dropQueue(queue);
    const before: number = connections;
    await assert.rejects(client.ack(queue, "1"), { code: "WR001" });
    await assert.rejects(client.send(queue, 1), { code: "WR001" });
    assert.ok(connections <= before + 2);
  }
});

test("what the queue's own function cannot do goes through the public one", async (t) => {
  const { db, texts, last } = watched(poolOf(t));
  const client = new Client(db, { retry: { retries: 0 } });
  const queue = queueName(t);
  await client.createQueue(queue, { priorities: 2 });
  const ids = new Set<string | undefined>();
  for (let n = 0; n < enough; n++) {
    ids.add(await client.send(queue, n, { dedupKey: "same" }));
    ids.add((await client.sendBatch(queue, [{ payload: n, dedupKey: "same" }]))[0]);
  }
  assert.equal(ids.size, 1);
  assert.ok(!texts.some((text) => text.includes("weir_internal")));
  for (let n = 0; n < enough; n++) await client.send(queue, n, { priority: 1 });
  assert.ok(last().includes(`weir_internal."send:${queue}"(`));
  await assert.rejects(client.send(queue, 1, { priority: 2 }), { code: "WR006" });
});
