import assert from "node:assert/strict";
import net from "node:net";
import test from "node:test";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex from "knex";
import type pg from "pg";
import { Client, Code, connect, fromDrizzle, fromKnex, type MessageRef, WeirError } from "../src/index.js";
import {
  clientOf,
  dsn,
  freePort,
  newDatabase,
  newQueue,
  poolOf,
  queueName,
  secured,
  serverOf,
  targets,
  until,
} from "./setup.js";

/** The code of the WeirError that a promise must end with. */
async function codeOf(failing: Promise<unknown>): Promise<string> {
  const error = await failing.then(
    () => assert.fail("it did not fail"),
    (e) => e,
  );
  assert.ok(error instanceof WeirError, `${error}`);
  return error.code;
}

/** Settles messages in every way, through a library that knows parameters by their places only. */
async function settlesAll(weir: Client, queue: string): Promise<void> {
  await weir.sendBatch(
    queue,
    [1, 2, 3, 4, 5, 6].map((payload) => ({ payload })),
  );
  const got = await weir.receive(queue, { max: 6 });
  const [first, second, third, fourth, fifth] = got;
  assert.ok(first && second && third && fourth && fifth);
  const deadline = await weir.extend(queue, got, 60_000);
  assert.ok(deadline.getTime() > Date.now() + 30_000);
  assert.deepEqual(
    [
      await weir.ack(queue, first),
      await weir.nack(queue, second, { delayMs: 3_600_000, reason: "r" }),
      await weir.reject(queue, [third]),
      await weir.release(queue, fourth),
      await weir.snooze(queue, fifth, 3_600_000),
      await weir.ackAll(queue, first.claimId),
    ],
    [1, 1, 1, 1, 1, 1],
  );
}

test("a send in the caller's transaction of pg happens with it or not at all", async (t) => {
  const pool = poolOf(t);
  const weir = new Client<Record<string, { n: number }>>(pool);
  const queue = await newQueue(t, weir as Client);
  const tx = await pool.connect();
  await tx.query("begin");
  await weir.in(tx).send(queue, { n: 1 });
  await tx.query("rollback");
  await tx.query("begin");
  await weir.in(tx).send(queue, { n: 2 });
  assert.deepEqual(await weir.pop(queue), [], "it is not delivered before the commit");
  await tx.query("commit");
  tx.release();
  assert.deepEqual(
    (await weir.pop(queue, { max: 10 })).map((m) => m.payload),
    [{ n: 2 }],
  );
});

test("a send in a transaction of Drizzle happens with it or not at all", async (t) => {
  const db = drizzle(poolOf(t));
  const weir = new Client(fromDrizzle(db, sql));
  const queue = await newQueue(t, weir);
  await assert.rejects(
    db.transaction(async (tx) => {
      await weir.in(fromDrizzle(tx, sql)).send(queue, 1, { key: "k$1?" });
      throw new Error("no");
    }),
  );
  await db.transaction((tx) => weir.in(fromDrizzle(tx, sql)).send(queue, "?", { key: "k$1?" }));
  await weir.transaction(async (tx) => tx.send(queue, 3));
  assert.equal(
    await codeOf(weir.send(`${queue}x`, 1)),
    Code.queueNotFound,
    "the driver's error is found in its wrapper",
  );
  const got = await weir.pop(queue, { max: 10 });
  assert.deepEqual(
    new Map(got.map((m) => [m.payload, m.key])),
    new Map<unknown, unknown>([
      ["?", "k$1?"],
      [3, null],
    ]),
  );
  await settlesAll(weir, queue);
});

test("a send in a transaction of Knex happens with it or not at all", async (t) => {
  const db = knex({ client: "pg", connection: dsn });
  t.after(() => db.destroy());
  const weir = new Client(fromKnex(db));
  const queue = await newQueue(t, weir);
  await assert.rejects(
    db.transaction(async (trx) => {
      await weir.in(fromKnex(trx)).send(queue, 1);
      throw new Error("no");
    }),
  );
  await db.transaction((trx) => weir.in(fromKnex(trx)).send(queue, { text: "a ? and $1" }, { key: "?" }));
  await weir.transaction(async (tx) => tx.sendBatch(queue, [{ payload: 3 }]));
  assert.equal(await codeOf(weir.send(`${queue}x`, 1)), Code.queueNotFound);
  const got = await weir.pop(queue, { max: 10 });
  assert.deepEqual(new Set(got.map((m) => m.payload)), new Set([{ text: "a ? and $1" }, 3]));
  await settlesAll(weir, queue);
});

test("parsers that the program gave pg do not matter", async (t) => {
  const odd = { getTypeParser: () => (text: unknown) => ({ odd: text }) };
  const weir = new Client(poolOf(t, { types: odd as unknown as pg.CustomTypesConfig }));
  const queue = queueName(t);
  const plain = await clientOf(t, dsn);
  await plain.createQueue(queue);
  await plain.send(queue, { a: [1] });
  const rows = (await weir.db?.query("select 1::int4 as n", [])) as pg.QueryResult;
  assert.deepEqual(rows.rows, [{ n: { odd: "1" } }], "the parsers are in use");
  assert.equal(await codeOf(weir.send(`${queue}x`, 1)), Code.queueNotFound);
});

test("ids beyond what a number holds stay exact, over SQL and HTTP", async (t) => {
  const own = await newDatabase(t);
  // what a database that had nine trillion records would be at
  await own.pool.query("select setval('weir_internal.record_numbers', 9007199254741)");
  await own.pool.query("select setval('weir_internal.claim_numbers', 9007199254740992)");
  for (const target of [own.dsn, await serverOf(t, own.dsn)]) {
    const weir = await clientOf(t, target);
    const queue = target === own.dsn ? "sql" : "http";
    await weir.createQueue(queue);
    const payload = { id: 5, list: [{ claim_id: 1 }], text: '{"id":9007199254740993}' };
    const sent = await weir.sendBatch(queue, [{ payload }, { payload: 2 }]);
    assert.ok(
      sent.every((id) => BigInt(id) > 2n ** 53n),
      queue,
    );
    assert.equal(BigInt(sent[1] as string) - BigInt(sent[0] as string), 1n, queue);
    const got = await weir.receive(queue, { max: 2 });
    assert.deepEqual(
      got.map((m) => m.id),
      sent,
      queue,
    );
    assert.deepEqual(got[0]?.payload, payload, queue);
    const claimId = String(got[0]?.claimId);
    assert.equal(await weir.ack(queue, { claimId, id: BigInt(sent[1] as string) }), 1, queue);
    assert.equal(await weir.ack(queue, [{ claimId, id: String(sent[0]) }]), 1, queue);
    await assert.rejects(weir.ackAll(queue, 2 ** 53), TypeError, "a number that is not exact is refused");
    await assert.rejects(weir.ackAll(queue, "1 or 1=1"), TypeError);
    await assert.rejects(weir.ack(queue, claimId as unknown as MessageRef), /there is ackAll/);
  }
});

test("a payload that JSON has no form for is refused as SQL null is", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  assert.equal(await codeOf(weir.send(queue, undefined)), Code.nullPayload);
  assert.equal(await codeOf(weir.sendBatch(queue, [{ payload: 1 }, { payload: () => 1 }])), Code.nullPayload);
  assert.deepEqual(await weir.pop(queue), []);
});

test("a server that is not there is told apart from a connection that broke", async () => {
  const port = await freePort();
  const lost = { retry: { retries: 0 } };
  for (const target of [`postgres://u@127.0.0.1:${port}/d`, `http://127.0.0.1:${port}`]) {
    const weir = await connect(target, lost);
    assert.equal(await codeOf(weir.version()), "08001", target);
    await weir.close();
  }
  const closing = net.createServer((socket) => socket.once("data", () => socket.destroy()));
  await new Promise<void>((resolve) => closing.listen(0, "127.0.0.1", resolve));
  const { port: open } = closing.address() as net.AddressInfo;
  for (const target of [`postgres://u@127.0.0.1:${open}/d`, `http://127.0.0.1:${open}`]) {
    const weir = await connect(target, lost);
    assert.equal(await codeOf(weir.version()), "08006", target);
    await weir.close();
  }
  closing.close();
});

test("a call is made again after an error that passes, a send only when nothing was done", async (t) => {
  const fails: { severity?: string; code: string }[] = [];
  let calls = 0;
  const pool = poolOf(t);
  const shaky = {
    query: async (text: string, params: unknown[]) => {
      calls++;
      const fail = fails.shift();
      if (fail) throw Object.assign(new Error("as the test wants"), fail);
      return pool.query(text, params);
    },
  };
  const weir = new Client(shaky, { retry: { delayMinMs: 1 } });
  const queue = await newQueue(t, new Client(pool));
  const counted = async (doing: () => Promise<unknown>) => {
    calls = 0;
    const code = await doing().then(
      () => "done",
      (error) => error.code,
    );
    return [code, calls];
  };
  fails.push({ severity: "ERROR", code: "40001" }, { severity: "FATAL", code: "57P01" });
  assert.deepEqual(
    await counted(() => weir.send(queue, 1)),
    ["done", 3],
    "PostgreSQL said that it did nothing",
  );
  fails.push({ code: "ECONNRESET" });
  assert.deepEqual(await counted(() => weir.send(queue, 1)), ["08006", 1], "it may have been sent");
  fails.push({ code: "ECONNRESET" }, { code: "ECONNRESET" });
  assert.deepEqual(await counted(() => weir.version()), ["done", 3], "reading twice does no harm");
  fails.push(...Array.from({ length: 9 }, () => ({ severity: "ERROR", code: "40P01" })));
  assert.deepEqual(await counted(() => weir.version()), ["40P01", 5], "it gives up");
  fails.length = 0;
  fails.push({ severity: "ERROR", code: "40001" });
  assert.deepEqual(
    await counted(() => weir.in(shaky).send(queue, 1)),
    ["40001", 1],
    "a transaction is the caller's",
  );
});

test("a transaction in which a failed statement was hidden does not pass for committed", async (t) => {
  const weir = new Client(poolOf(t));
  const queue = await newQueue(t, weir);
  const hidden = weir.transaction(async (tx, db) => {
    await tx.send(queue, 1);
    await db.query("select 1/0", []).catch(() => {});
  });
  assert.equal(await codeOf(hidden), "25P02");
  assert.deepEqual(await weir.pop(queue), []);
});

test("an idle connection that is ended does not end the process, and the next call has another", async (t) => {
  const pool = poolOf(t);
  pool.removeAllListeners("error");
  const weir = new Client(pool);
  const { rows } = await pool.query("select pg_backend_pid() as pid");
  const other = await clientOf(t, dsn);
  await other.db?.query("select pg_terminate_backend($1)", [rows[0].pid]);
  await until("the connection is gone", () => pool.totalCount === 0);
  assert.match(await weir.version(), /^\d+\.\d+\.\d+/);
});

test("connect reads both forms of a DSN", async (t) => {
  const at = new URL(dsn);
  const login = `user='${at.username}' password='${at.password}'`;
  const words = `host=${at.hostname} port=${at.port} ${login} dbname=${at.pathname.slice(1)}`;
  const weir = await clientOf(t, words);
  assert.equal(await weir.version(), await (await clientOf(t, dsn)).version());
});

test("a consumer's messages settle themselves, and an iteration ends with its signal", async (t) => {
  for (const target of Object.values(targets)) {
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    await weir.createGroup(queue, "g", { maxAttempts: 3 });
    await weir.producer(queue).sendBatch([{ payload: "done" }, { payload: "again" }, { payload: "never" }]);
    const stop = new AbortController();
    const seen: unknown[] = [];
    for await (const m of weir.consumer(queue, { group: "g", max: 2, signal: stop.signal })) {
      seen.push([m.payload, m.attempt]);
      if (m.payload === "done") assert.ok(await m.ack());
      else if (m.payload === "never") assert.ok(await m.reject("bad"));
      else if (m.attempt === 1) assert.ok(await m.nack({ delayMs: 0 }));
      else {
        await m.extend(60_000);
        assert.ok(await m.ack());
        assert.equal(await m.ack(), false, "it was finished before");
      }
      if (seen.length === 4) stop.abort();
    }
    assert.deepEqual(seen.map(String).sort(), ["again,1", "again,2", "done,1", "never,1"]);
    const dead = await weir.deadLetters(queue, { group: "g" });
    assert.deepEqual(
      dead.map((d) => [d.payload, d.reason]),
      [["never", "bad"]],
    );
  }
});

test("a bare connection begins no transaction, for others may share it", async (t) => {
  const connection = await poolOf(t).connect();
  assert.equal(
    await codeOf(new Client({ query: connection.query.bind(connection) }).transaction(async () => 1)),
    "0A000",
  );
  connection.release();
});

test("what an older engine does not know is told apart", async (t) => {
  const pool = poolOf(t);
  const older = {
    query: async (text: string, params: unknown[]) =>
      pool.query(text.replace("weir.version", "weir.not_yet"), params),
  };
  assert.equal(await codeOf(new Client(older).version()), Code.notSupported);
});

test("a server that asks for a token is shown one with each request", async (t) => {
  const queue = await newQueue(t, await clientOf(t, dsn));
  const none = await clientOf(t, secured.url);
  await assert.rejects(none.send(queue, 1), { code: Code.unauthenticated, status: 401 });
  const wrong = await clientOf(t, secured.url, { token: "wrong" });
  await assert.rejects(wrong.send(queue, 1), { code: Code.unauthenticated });
  let asked = 0;
  const token = async () => {
    asked++;
    return secured.token;
  };
  const asking = await clientOf(t, secured.url, { token });
  await asking.send(queue, 1);
  await asking.transaction(async (tx) => {
    await tx.send(queue, 2);
  });
  assert.equal(asked, 2);
  const lost = await clientOf(t, secured.url, {
    token: () => Promise.reject(new Error("no token to be had")),
  });
  await assert.rejects(lost.send(queue, 1), /no token to be had/);
  await assert.rejects(connect(dsn, { token: "t" }), { code: Code.notSupported });
  const got = await asking.receive(queue, { max: 10 });
  assert.equal(got.length, 2);
});
