/** Concurrent calls of a client share statements, and each gets its own answer. */

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import pg from "pg";
import { Coalescer } from "../src/coalesce.js";
import { Client, type Hooks, WeirError } from "../src/index.js";
import { adminDsn, logName, poolOf, queueName, until } from "./setup.js";

/** Holds the log of a queue, which is its own, so that no statement that sends to it ends. */
class Lock {
  private constructor(
    private readonly holder: pg.Client,
    private readonly watcher: pg.Client,
    readonly table: string,
  ) {}

  static async of(t: TestContext, queue: string): Promise<Lock> {
    const [holder, watcher] = [new pg.Client(adminDsn), new pg.Client(adminDsn)];
    await Promise.all([holder.connect(), watcher.connect()]);
    t.after(async () => {
      await holder.end();
      await watcher.end();
    });
    const sql = `select schema_name from weir_internal.logs l join weir_internal.queues q on q.log_no = l.no
      where q.name = $1 and l.name <> 'main'`;
    const [row] = (await watcher.query(sql, [queue])).rows;
    const lock = new Lock(holder, watcher, `${row.schema_name}.log_1`); // the first that it fills
    await holder.query(`begin; lock table ${lock.table} in access exclusive mode`);
    return lock;
  }

  async release(): Promise<void> {
    await this.holder.end();
  }

  /** The processes whose statements wait for it. */
  async waiting(): Promise<number[]> {
    const sql = `select pid from pg_locks join pg_stat_activity using (pid)
      where relation = $1::regclass and not granted and query ~ 'send|enqueue'`; // others wait, too: upkeep
    return (await this.watcher.query(sql, [this.table])).rows.map((row) => row.pid);
  }

  /** Ends a process. */
  async end(pid: number | undefined): Promise<void> {
    await this.watcher.query("select pg_terminate_backend($1)", [pid]);
  }

  /** How many transactions wrote the log. */
  async transactions(): Promise<number> {
    const [row] = (await this.watcher.query(`select count(distinct txid) as n from ${this.table}`)).rows;
    return Number(row.n);
  }

  /** Makes a call, and others while its statement waits. */
  async crowd<R>(first: () => Promise<R>, others: () => Promise<R>[]): Promise<Promise<R>[]> {
    const leader = first();
    await until("the first waits", async () => (await this.waiting()).length === 1);
    const all = [leader, ...others()];
    for (const one of all) one.catch(() => {});
    return all;
  }
}

/** A client of a pool, the pool, and a queue. */
async function shared(t: TestContext, hooks?: Hooks) {
  const pool = poolOf(t);
  const client = new Client(pool, { hooks });
  const queue = queueName(t);
  await client.createQueue(queue, { log: logName(t) });
  return { pool, queue, client };
}

/** The payloads that are there by their ids. */
async function stored(client: Client, queue: string): Promise<Map<string, unknown>> {
  return new Map((await client.pop(queue, { max: 10_000 })).map((m) => [m.id, m.payload]));
}

/** What came of calls: ids, and errors. */
async function outcomes<R>(calls: Promise<R>[]): Promise<(R | WeirError)[]> {
  return Promise.all(calls.map((call) => call.catch((error: WeirError) => error)));
}

function expected(calls: (string | WeirError)[], payloads: unknown[]): Map<string, unknown> {
  return new Map(calls.map((id, i) => [id as string, payloads[i]]));
}

test("sends that come during a call share the next, and each gets its own id", async (t) => {
  let seen = 0;
  const hooks: Hooks = {
    sending: (_, messages, send) => {
      seen += messages.length;
      return send(messages);
    },
    processing: (_, next) => next(),
  };
  const { client, queue } = await shared(t, hooks);
  const lock = await Lock.of(t, queue);
  const options = (n: number) => ({
    ...(n % 2 ? { key: `${n}` } : {}),
    ...(n % 3 ? { headers: { n } } : {}),
  });
  const numbers = Array.from({ length: 1500 }, (_, i) => i + 1);
  const calls = await lock.crowd(
    () => client.send(queue, 0),
    () => numbers.map((n) => client.send(queue, n, options(n))),
  );
  await lock.release();
  const ids = await Promise.all(calls);
  assert.equal(await lock.transactions(), 3, "that of the first, of 1,000 and of 500");
  assert.equal(seen, 1501);
  const found = new Map((await client.pop(queue, { max: 10_000 })).map((m) => [m.id, m]));
  assert.equal(found.size, 1501);
  for (const [n, id] of ids.entries()) {
    const m = found.get(id);
    assert.deepEqual(
      [m?.payload, m?.key, m?.headers],
      [n, n % 2 ? `${n}` : null, n % 3 ? { n } : null],
      `message ${n}`,
    );
  }
});

test("a call carries about a mebibyte", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const calls = await lock.crowd(
    () => client.send(queue, 0),
    () => Array.from({ length: 25 }, () => client.send(queue, "x".repeat(100_000))),
  );
  await lock.release();
  await Promise.all(calls);
  assert.equal(await lock.transactions(), 4);
});

test("one bad message among many fails alone", async (t) => {
  const { client, queue } = await shared(t);
  const bad: [payload: unknown, key?: string][] = [
    ["x", "k".repeat(1025)],
    ["a \0 b"],
    ["large ".repeat(1 << 18)],
    ["x", "a \0 b"],
    [undefined],
    [1n],
  ];
  const want = await outcomes(bad.map(([payload, key]) => client.send(queue, payload, { key })));
  const lock = await Lock.of(t, queue);
  const good = Array.from({ length: 50 }, (_, n) => n);
  const calls = await lock.crowd(
    () => client.send(queue, "first"),
    () => [
      ...good.map((n) => client.send(queue, n)),
      ...bad.map(([payload, key]) => client.send(queue, payload, { key })),
    ],
  );
  await lock.release();
  const got = await outcomes(calls);
  assert.deepEqual(
    got.slice(51).map((e) => [(e as WeirError).code, (e as WeirError).message]),
    want.map((e) => [(e as WeirError).code, (e as WeirError).message]),
  );
  assert.deepEqual(await stored(client, queue), expected(got.slice(0, 51), ["first", ...good]));
});

test("batches and single sends share calls, and each gets its own ids", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const sizes = Array.from({ length: 90 }, (_, n) => 1 + (n % 7));
  const key = (n: number) => (n % 2 ? "k" : undefined);
  const calls = await lock.crowd(
    () => client.sendBatch(queue, [{ payload: "first" }, { payload: "second" }]),
    () =>
      sizes.map((size, n) =>
        size === 1 && n % 2 === 0
          ? client.send(queue, [n, 0]).then((id) => [id])
          : client.sendBatch(
              queue,
              Array.from({ length: size }, (_, i) => ({ payload: [n, i], key: key(n) })),
            ),
      ),
  );
  await lock.release();
  const [first, ...ids] = (await Promise.all(calls)) as [string[], ...string[][]];
  assert.equal(await lock.transactions(), 2, "that of the first, and of all others");
  assert.deepEqual(
    ids.map((some) => some.length),
    sizes,
  );
  const found = new Map((await client.pop(queue, { max: 10_000 })).map((m) => [m.id, [m.payload, m.key]]));
  const want = ids.flatMap((some, n) => some.map((id, i) => [id, [[n, i], key(n) ?? null]] as const));
  const [one, two] = first as [string, string];
  assert.deepEqual(found, new Map([[one, ["first", null]], [two, ["second", null]], ...want] as never));
  const order = want.map(([id]) => BigInt(id));
  assert.ok(
    order.every((id, i) => i === 0 || id > (order[i - 1] as bigint)),
    "the order of the calls, and in each that of its messages",
  );
});

test("batches share calls as long as they fit, and none is parted", async (t) => {
  const of = (n: number, payload = "x") => Array.from({ length: n }, () => ({ payload }));
  const large = "x".repeat(100_000);
  const cases: [string, number, { payload: string }[][]][] = [
    ["many messages", 3, Array.from({ length: 5 }, () => of(400))],
    ["many bytes", 3, Array.from({ length: 8 }, () => of(3, large))],
    ["one with more than a call takes", 2, [of(300), of(2500), of(300), of(300)]],
    ["one larger than a call is", 2, [of(1), of(30, large), of(1), of(1)]],
  ];
  for (const [name, transactions, batches] of cases) {
    const { client, queue } = await shared(t);
    const lock = await Lock.of(t, queue);
    const calls = await lock.crowd(
      () => client.sendBatch(queue, of(1)),
      () => batches.map((batch) => client.sendBatch(queue, batch)),
    );
    await lock.release();
    const [, ...ids] = await Promise.all(calls);
    assert.equal(await lock.transactions(), 1 + transactions, name);
    assert.deepEqual(
      ids.map((some) => some.length),
      batches.map((batch) => batch.length),
    );
  }
});

test("one bad batch among many fails alone and wholly", async (t) => {
  const { client, queue } = await shared(t);
  const aside = { payload: "not sent" };
  const bad = [
    { payload: "x", key: "k".repeat(1025) },
    { payload: "a \0 b" },
    { payload: "large ".repeat(1 << 18) },
    { payload: undefined },
    { payload: 1n },
  ].map((message) => [aside, message, aside]);
  const want = await outcomes(bad.map((batch) => client.sendBatch(queue, batch)));
  const good = Array.from({ length: 20 }, (_, n) => [{ payload: [n, 0] }, { payload: [n, 1] }]);
  const lock = await Lock.of(t, queue);
  const calls = await lock.crowd(
    () => client.sendBatch(queue, [{ payload: "first" }]),
    () => [...good, ...bad].map((batch) => client.sendBatch(queue, batch)),
  );
  await lock.release();
  const got = await outcomes(calls);
  assert.deepEqual(
    got.slice(21).map((e) => [(e as WeirError).code, (e as WeirError).message]),
    want.map((e) => [(e as WeirError).code, (e as WeirError).message]),
  );
  const payloads = ["first", ...good.flat().map(({ payload }) => payload)];
  assert.deepEqual(await stored(client, queue), expected((got.slice(0, 21) as string[][]).flat(), payloads));
});

test("who leaves before the call began takes the whole batch along", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const leaving = new AbortController();
  const { signal } = leaving;
  const batch = (...payloads: unknown[]) => payloads.map((payload) => ({ payload }));
  const gone = batch("not sent", "not sent");
  const [first, staying, left, last] = (await lock.crowd(
    () => client.sendBatch(queue, batch(0)),
    () => [
      client.sendBatch(queue, batch(1, 2)),
      client.sendBatch(queue, gone, { signal }),
      client.sendBatch(queue, batch(3)),
    ],
  )) as [Promise<string[]>, Promise<string[]>, Promise<string[]>, Promise<string[]>];
  leaving.abort(new Error("enough"));
  await assert.rejects(left, { message: "enough" });
  await assert.rejects(client.sendBatch(queue, gone, { signal }), { message: "enough" });
  await assert.rejects(client.sendBatch(queue, gone, { signal }), { message: "enough" });
  await lock.release();
  const ids = await Promise.all([first, staying, last]);
  assert.deepEqual(await stored(client, queue), expected(ids.flat(), [0, 1, 2, 3]));
});

test("an empty batch, and one with a dedup key, share no call", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const calls = await lock.crowd(
    () => client.sendBatch(queue, [{ payload: 0 }]),
    () => [
      client.sendBatch(queue, [{ payload: 1 }, { payload: 2, dedupKey: "d" }]),
      client.sendBatch(queue, []),
    ],
  );
  assert.deepEqual(await calls[2], []);
  await until("two wait", async () => (await lock.waiting()).length === 2);
  await lock.release();
  const [, ids] = await Promise.all(calls);
  assert.equal(await client.send(queue, 3, { dedupKey: "d" }), ids?.[1]);
});

test("who leaves before the call began takes the message along", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const leaving = new AbortController();
  const { signal } = leaving;
  const [first, other, gone] = (await lock.crowd(
    () => client.send(queue, 0),
    () => [client.send(queue, 1), client.send(queue, "not sent", { signal })],
  )) as [Promise<string>, Promise<string>, Promise<string>];
  leaving.abort(new Error("enough"));
  await assert.rejects(gone, { message: "enough" });
  await assert.rejects(client.send(queue, "not sent", { signal }), { message: "enough" });
  await assert.rejects(client.send(queue, "not sent", { signal }), { message: "enough" });
  await lock.release();
  assert.deepEqual(await stored(client, queue), expected(await Promise.all([first, other]), [0, 1]));
});

test("who leaves during a call leaves it to the others", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const leaving = new AbortController();
  const { signal } = leaving;
  const [first, other] = (await lock.crowd(
    () => client.send(queue, 0, { signal }),
    () => [client.send(queue, 1)],
  )) as [Promise<string>, Promise<string>];
  leaving.abort(new Error("enough"));
  await assert.rejects(first, { message: "enough" });
  await lock.release();
  await other;
  assert.deepEqual([...(await stored(client, queue)).values()].sort(), [0, 1]);
});

test("a call whose server ends fails for all and is not repeated", async (t) => {
  const { pool, client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const [first, ...others] = (await lock.crowd(
    () => client.send(queue, 0),
    () => Array.from({ length: 20 }, (_, n) => client.send(queue, n)),
  )) as [Promise<string>, ...Promise<string>[]];
  const end = async () => {
    const [pid] = await lock.waiting();
    const { _clients } = pool as unknown as {
      _clients: { processID: number; connection: { stream: { destroy(): void } } }[];
    };
    _clients.find(({ processID }) => processID === pid)?.connection.stream.destroy();
    await lock.end(pid);
    return pid;
  };
  const pid = await end();
  await assert.rejects(first, { outcomeUnknown: true });
  await until("the next call waits", async () => {
    const [next] = await lock.waiting();
    return next !== undefined && next !== pid;
  });
  await end();
  const errors = await outcomes(others);
  assert.deepEqual(
    new Set(errors.map((e) => [(e as WeirError).code, (e as WeirError).outcomeUnknown].join())),
    new Set(["08006,true"]),
  );
  assert.equal(new Set(errors).size, 20, "each has one of its own");
  await lock.release();
  const mine = await client.send(queue, "later");
  assert.deepEqual(await stored(client, queue), new Map([[mine, "later"]]));
});

test("each is told that its queue was dropped, and sends to one made anew", async (t) => {
  const { client } = await shared(t);
  const queue = queueName(t);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  for (let n = 0; n < 2; n++) {
    await client.createQueue(queue);
    const ids = await Promise.all(numbers.map((n) => client.send(queue, n)));
    assert.deepEqual(await stored(client, queue), expected(ids, numbers));
    await client.dropQueue(queue);
    const errors = await outcomes(numbers.map((n) => client.send(queue, n)));
    assert.ok(errors.every((e) => (e as WeirError).code === "WR001"));
  }
});

test("jobs share calls; what is unique or due later goes alone", async (t) => {
  const { client, queue } = await shared(t);
  const lock = await Lock.of(t, queue);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  const calls = await lock.crowd(
    () => client.enqueue(queue, "add", { n: "first" }),
    () => [
      ...numbers.map((n) => client.enqueue(queue, "add", { n }, { headers: { n } })),
      client.enqueue(queue, "add", { n: 20 }, { tracked: true }),
      client.enqueue(queue, "add", { n: 21 }, { unique: true }),
      client.send(queue, { n: 22 }, { dedupKey: "d" }),
    ],
  );
  await until("four wait", async () => (await lock.waiting()).length === 4);
  await lock.release();
  const [first, ...ids] = (await Promise.all(calls)) as [string, ...string[]];
  assert.equal(await lock.transactions(), 5);
  assert.equal((await client.job(queue, ids[20] as string))?.state, "waiting");
  assert.equal(await client.enqueue(queue, "add", { n: 21 }, { unique: true }), ids[21]);
  const found = new Map((await client.pop(queue, { max: 100 })).map((m) => [m.id, m]));
  assert.deepEqual(new Set(found.keys()), new Set([first, ...ids]));
  for (const n of numbers) {
    const m = found.get(ids[n] as string);
    assert.deepEqual([m?.payload, m?.headers], [{ n }, { n, kind: "add" }]);
  }
});

test("delays and priorities are kept", async (t) => {
  const { client } = await shared(t);
  const queue = queueName(t);
  await client.createQueue(queue, { priorities: 3 });
  await Promise.all([
    ...Array.from({ length: 30 }, (_, n) => client.send(queue, n % 3, { priority: n % 3 })),
    ...Array.from({ length: 10 }, (_, n) => client.send(queue, n, { delayMs: 3_600_000 })),
  ]);
  const got: unknown[] = [];
  for (let n = 0; n < 30; n++) got.push((await client.pop(queue))[0]?.payload);
  assert.deepEqual(got, [...Array(10).fill(2), ...Array(10).fill(1), ...Array(10).fill(0)]);
  assert.equal((await client.stats(queue))[0]?.delayed, 10);
});

test("what is in a transaction is not shared", async (t) => {
  const { client, queue } = await shared(t);
  const numbers = [0, 1, 2, 3, 4];
  const ends = numbers.map((n) =>
    client.transaction(async (tx) => {
      await Promise.all([tx.send(queue, "gone"), client.send(queue, n)]);
      throw new RangeError("roll back");
    }),
  );
  await Promise.all(ends.map((end) => assert.rejects(end, RangeError)));
  assert.deepEqual([...(await stored(client, queue)).values()].sort(), numbers);
});

test("sends of a connection share no statement", async () => {
  let statements = 0;
  const one = new Client({
    query: () => Promise.resolve({ rows: [{ id: String(++statements), send: String(statements) }] }),
  });
  await Promise.all([1, 2, 3].map((n) => one.send("q", n)));
  assert.equal(statements, 3);
});

test("who is answered with too few ids is told so, and nothing is sent again", async () => {
  const calls: number[] = [];
  const coalescer = new Coalescer<object, number>(async (_, items) => {
    calls.push(items.length);
    await new Promise(setImmediate);
    return items.slice(items.length > 1 ? 1 : 0).map(String);
  });
  const sends = [1, 2, 3].map((n) => coalescer.send({}, [n], 1));
  const [first, ...others] = await Promise.allSettled(sends);
  assert.equal(first?.status, "fulfilled");
  assert.deepEqual(
    others.map((other) => other.status),
    ["rejected", "rejected"],
  );
  assert.deepEqual(calls, [1, 2]);
});
