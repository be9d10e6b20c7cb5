import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import test, { type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
  ClaimLost,
  type ClaimedMessage,
  Client,
  Code,
  exactlyOnce,
  type Handler,
  Reject,
  RetryAfter,
  WeirError,
  type Worker,
  type WorkerOptions,
} from "../src/index.js";
import { clientOf, dsn, gate, newQueue, poolOf, renewals, targets, until } from "./setup.js";

/** Starts a worker that is stopped when the test ends; what it reports is kept. */
function start(t: TestContext, client: Client, queue: string, handler: Handler, options: WorkerOptions = {}) {
  const errors: unknown[] = [];
  const worker = client.worker(queue, handler, { onError: (error) => errors.push(error), ...options });
  const running = worker.run();
  t.after(() => worker.stop({ hard: true }));
  return { worker, running, errors };
}

/** Waits until nothing of the queue's default group is waiting, claimed or delayed. */
async function empty(client: Client, queue: string, group = "default"): Promise<void> {
  await until(`${queue} is empty`, async () => {
    const stats = (await client.stats(queue)).find((s) => s.group === group);
    return stats && stats.waiting + stats.claimed + stats.delayed + stats.parked === 0;
  });
}

for (const [name, target] of Object.entries(targets)) {
  test(`${name}: every message is handled once, and acked`, async (t) => {
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    const seen: unknown[] = [];
    const { worker } = start(t, weir, queue, async ({ payload }) => seen.push(payload));
    const sent = Array.from({ length: 300 }, (_, i) => i);
    await weir.sendBatch(
      queue,
      sent.slice(0, 200).map((payload) => ({ payload })),
    );
    for (const payload of sent.slice(200)) await weir.send(queue, payload);
    await empty(weir, queue);
    await worker.stop();
    assert.deepEqual(
      seen.toSorted((a, b) => Number(a) - Number(b)),
      sent,
    );
  });

  test(`${name}: what a handler returns or throws decides`, async (t) => {
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    await weir.createGroup(queue, "g", { maxAttempts: 2, backoffMinMs: 1, backoffMaxMs: 1 });
    const seen: string[] = [];
    const handler: Handler = ({ payload, attempt }) => {
      seen.push(`${payload} ${attempt}`);
      if (payload === "later" && attempt === 1) throw new RetryAfter(1, "not yet");
      if (payload === "never") throw new Reject("no such customer");
      if (payload === "fails") throw new TypeError("\u0000 is not \ud800 a text");
    };
    const { worker, errors } = start(t, weir, queue, handler, { group: "g" });
    await weir.sendBatch(
      queue,
      ["done", "later", "never", "fails"].map((payload) => ({ payload })),
    );
    await empty(weir, queue, "g");
    await worker.stop();
    assert.deepEqual(seen.sort(), ["done 1", "fails 1", "fails 2", "later 1", "later 2", "never 1"]);
    const dead = await weir.deadLetters(queue, { group: "g" });
    assert.deepEqual(
      dead.map((d) => [d.payload, d.attempts, d.reason]),
      [
        ["never", 1, "no such customer"],
        ["fails", 2, "TypeError:  is not \ufffd a text"],
      ],
    );
    assert.equal(errors.length, 4);
  });

  test(`${name}: an ordered group's keys go in order, side by side, and a failure holds up its own`, async (t) => {
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    await weir.createGroup(queue, "g", { ordered: true });
    const keys = ["a", "b", "c", "d"];
    const numbers = [1, 2, 3, 4, 5];
    await weir.sendBatch(
      queue,
      numbers.flatMap((payload) => keys.map((key) => ({ payload, key }))),
    );
    const seen: Record<string, unknown[]> = {};
    let running = 0;
    let most = 0;
    const busy = new Set<unknown>();
    const handler: Handler = async ({ key, payload, attempt }) => {
      assert.ok(!busy.has(key), `two of ${key} at once`);
      busy.add(key);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      busy.delete(key);
      if (key === "b" && payload === 2 && attempt === 1) throw new RetryAfter(10);
      seen[String(key)] = [...(seen[String(key)] ?? []), payload];
    };
    const { worker, errors } = start(t, weir, queue, handler, { group: "g", prefetch: 40 });
    await empty(weir, queue, "g");
    await worker.stop();
    assert.deepEqual(seen, Object.fromEntries(keys.map((key) => [key, numbers])));
    assert.ok(most > 1, "different keys run at once");
    assert.deepEqual(
      errors.map((e) => (e as Error).name),
      ["RetryAfter"],
    );
  });

  test(`${name}: a soft stop lets handlers end and gives back what has not begun`, async (t) => {
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    await weir.sendBatch(
      queue,
      [1, 2, 3, 4].map((payload) => ({ payload })),
    );
    const begun = gate();
    const finish = gate();
    const handler: Handler = async () => {
      begun.open();
      await finish.opened;
    };
    const { worker, running } = start(t, weir, queue, handler, { concurrency: 1, leaseMs: 3_600_000 });
    await begun.opened;
    assert.equal(worker.health().held, 2);
    const stopped = worker.stop();
    const back: ClaimedMessage[] = [];
    while (back.length < 3) back.push(...(await weir.receive(queue, { max: 4, waitMs: 30_000 })));
    assert.deepEqual(back.map((m) => m.payload).sort(), [2, 3, 4]);
    assert.deepEqual(
      back.map((m) => m.attempt),
      [1, 1, 1],
      "that delivery does not count",
    );
    finish.open();
    await stopped;
    await running;
    assert.equal(worker.health().state, "stopped");
    assert.equal((await weir.stats(queue))[0]?.claimed, 3, "the first is acked");
  });
}

test("a long line of one key leaves handlers for the others", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.createGroup(queue, "g", { ordered: true });
  await weir.sendBatch(queue, Array(10).fill({ payload: "hot", key: "hot" }));
  const [began, other] = [gate(), gate()];
  const done: unknown[] = [];
  const handler: Handler = async ({ payload }) => {
    if (payload === "hot") {
      began.open();
      await other.opened;
    } else other.open();
    done.push(payload);
  };
  start(t, weir, queue, handler, { group: "g", concurrency: 2, prefetch: 5 });
  await began.opened;
  const others = Array.from({ length: 20 }, (_, i) => ({ payload: "other", key: `k${i}` }));
  await weir.sendBatch(queue, others);
  await until("all are done", () => done.length === 30);
});

test("a hard stop tells handlers to end and gives their messages back", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.send(queue, 1);
  const begun = gate();
  const handler: Handler = (_, { signal }) =>
    new Promise((_, fail) => {
      signal.addEventListener("abort", () => fail(signal.reason));
      begun.open();
    });
  const { worker } = start(t, weir, queue, handler, { leaseMs: 3_600_000 });
  await begun.opened;
  await worker.stop({ hard: true });
  const [again] = await weir.receive(queue, { waitMs: 30_000 });
  assert.deepEqual([again?.payload, again?.attempt], [1, 2]);
});

test("a handler that does not end when its time is over is given up, and the worker goes on", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.createGroup(queue, "g", { maxAttempts: 1 });
  const told: string[] = [];
  const handler: Handler = ({ payload }, { signal }) => {
    if (payload === "ends")
      return new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
    if (payload === "stuck")
      return new Promise(() => signal.addEventListener("abort", () => told.push("stuck")));
    return undefined;
  };
  const options = { group: "g", concurrency: 1, timeoutMs: 20, graceMs: 20 };
  const { worker } = start(t, weir, queue, handler, options);
  await weir.sendBatch(
    queue,
    ["ends", "stuck", "fine"].map((payload) => ({ payload })),
  );
  await empty(weir, queue, "g");
  await worker.stop();
  const dead = await weir.deadLetters(queue, { group: "g" });
  const reason = "HandlerTimeout: not done within 20 ms";
  assert.deepEqual(
    dead.map((d) => [d.payload, d.reason]),
    [
      ["ends", reason],
      ["stuck", reason],
    ],
  );
  assert.deepEqual(told, ["stuck"]);
  assert.equal(worker.health().abandoned, 1);
});

test("acks are gathered: a claim that is done is acked in one call, and calls do not overlap", async (t) => {
  const pool = poolOf(t);
  const weir = new Client({ query: pool.query.bind(pool) });
  const queue = await newQueue(t, weir);
  await weir.sendBatch(
    queue,
    Array.from({ length: 200 }, (_, payload) => ({ payload })),
  );
  const acks: string[] = [];
  let open = 0;
  const watched = new Client({
    query: async (text: string, params: unknown[]) => {
      const isAck = text.includes("weir.ack");
      if (isAck) {
        assert.equal(open++, 0, "another is under way");
        acks.push(String(params[1]));
      }
      const result = await pool.query(text, params);
      if (isAck) open--;
      return result;
    },
  });
  const { worker } = start(t, watched, queue, () => {}, { concurrency: 100, prefetch: 100 });
  await empty(weir, queue);
  await worker.stop();
  assert.ok(acks.length <= 20, `${acks.length} acks for 200 messages`);
  assert.ok(!acks.join().includes('"ids"') || acks.length > 2, "claims are acked as a whole");
});

/** Starts test/programs/holder, and collects what it says. */
function holder(t: TestContext, queue: string, leaseMs: number): { child: ChildProcess; said: () => string } {
  const program = fileURLToPath(new URL("./programs/holder.js", import.meta.url));
  const child = spawn(process.execPath, [program, dsn, queue, String(leaseMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout?.on("data", (data) => {
    text += data;
  });
  return { child, said: () => text };
}

test("the message of a worker that is killed is delivered elsewhere when its lease ends", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const id = await weir.send(queue, 1);
  const { child, said } = holder(t, queue, 10_000);
  await until("the process holds the message", () => said() === `holds ${id}\n`);
  child.kill("SIGKILL");
  await once(child, "exit");
  const seen: string[] = [];
  start(t, weir, queue, (m) => seen.push(`${m.id} ${m.attempt}`));
  await empty(weir, queue);
  assert.deepEqual(seen, [`${id} 2`]);
});

test("a worker that was frozen for longer than its lease tells its handlers that the claim is lost", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const id = await weir.send(queue, 1);
  const { child, said } = holder(t, queue, 10_000);
  await until("the process holds the message", () => said() === `holds ${id}\n`);
  child.kill("SIGSTOP");
  const [taken] = await weir.receive(queue, { waitMs: 30_000, leaseMs: 3_600_000 });
  assert.deepEqual([taken?.id, taken?.attempt], [id, 2]);
  child.kill("SIGCONT");
  await until("the handler is told", () => said() === `holds ${id}\ntold ClaimLost\n`);
  assert.equal(await weir.ackAll(queue, String(taken?.claimId)), 1, "it is still for us to finish");
});

test("exactly once: rows, sends and the ack happen together, and a late one changes nothing", async (t) => {
  const pool = poolOf(t);
  const weir = new Client(pool);
  const queue = await newQueue(t, weir);
  const next = await newQueue(t, weir);
  await pool.query(`create table "${queue}" (n int)`);
  t.after(async () => {
    const client = await clientOf(t, dsn);
    await client.db?.query(`drop table "${queue}"`, []);
  });
  const handler: Handler = async (message, context) => {
    if (message.payload === "late" && message.attempt === 1) {
      // as if the lease had ended, and another had done it
      await weir.ack(queue, message);
    }
    const work = exactlyOnce(async (m, { tx, db }) => {
      await db.query(`insert into "${queue}" values ($1)`, [m.attempt]);
      await tx.send(next, { from: m.payload, attempt: m.attempt });
      if (m.payload === "fails" && m.attempt === 1) throw new RetryAfter(0, "after all");
    });
    await work(message, context);
  };
  const { worker, errors } = start(t, weir, queue, handler, { concurrency: 3 });
  await weir.sendBatch(
    queue,
    ["fine", "fails", "late"].map((payload) => ({ payload })),
  );
  await empty(weir, queue);
  await worker.stop();
  const { rows } = await pool.query(`select n from "${queue}" order by n`);
  assert.deepEqual(
    rows.map((r) => r.n),
    [1, 2],
  );
  const sent = (await weir.pop(next, { max: 10 })).map((m) => m.payload);
  assert.deepEqual(sent.map((p) => JSON.stringify(p)).sort(), [
    '{"from":"fails","attempt":2}',
    '{"from":"fine","attempt":1}',
  ]);
  assert.deepEqual(errors.map((e) => (e as Error).name).sort(), ["ClaimLost", "RetryAfter"]);
  assert.ok(errors.some((e) => e instanceof ClaimLost));
});

test("handlers that hold every connection of the pool do not keep the worker from renewing and acking", async (t) => {
  const pool = poolOf(t, { max: 2 });
  const weir = new Client(pool);
  const queue = await newQueue(t, weir);
  await weir.sendBatch(
    queue,
    [1, 2, 3].map((payload) => ({ payload })),
  );
  const finish = gate();
  let begun = 0;
  const handler: Handler = async (_, { client }) => {
    await client.transaction(async () => {
      begun++;
      await finish.opened;
    });
  };
  const { deadlines, hurry } = renewals(t);
  const worker = hurry(weir.worker(queue, handler, { leaseMs: 3_600_000 }));
  void worker.run();
  t.after(() => worker.stop({ hard: true }));
  await until("the pool is used up", () => begun === 2 && pool.waitingCount > 0);
  const watching = await clientOf(t, dsn);
  const { length } = deadlines;
  await until("the leases are renewed", () => deadlines.length > length + 5);
  finish.open();
  await empty(watching, queue);
  await worker.stop();
  assert.equal(worker.health().lost, 0);
});

test("a worker outlives the loss of all its connections", async (t) => {
  const weir = new Client(poolOf(t, { application_name: "weir lost connections" }));
  const queue = await newQueue(t, weir);
  const seen: unknown[] = [];
  const { worker } = start(t, weir, queue, ({ payload }) => seen.push(payload));
  await weir.send(queue, 1);
  await until("the first message", () => seen.length === 1);
  await until("it listens", () => worker.health().listening);
  const other = await clientOf(t, dsn);
  const end = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = $1";
  await other.db?.query(end, ["weir lost connections"]);
  await other.send(queue, 2);
  await until("the second message", () => seen.length === 2);
  assert.deepEqual(seen, [1, 2]);
  await until("it is well", () => worker.health().healthy);
});

test("an idle worker is woken by a send", async (t) => {
  const weir = new Client(poolOf(t));
  const queue = await newQueue(t, weir);
  const seen: unknown[] = [];
  const { worker } = start(t, weir, queue, ({ payload }) => seen.push(payload));
  await until("it listens", () => worker.health().listening);
  await weir.send(queue, 1);
  await until("the message", () => seen.length === 1);
});

test("a worker without a right or a queue says so at once", async (t) => {
  for (const target of Object.values(targets)) {
    const weir = await clientOf(t, target);
    const worker = weir.worker("no-such-queue", () => {});
    await assert.rejects(worker.run(), (e) => e instanceof WeirError && e.code === Code.queueNotFound);
    const queue = await newQueue(t, weir);
    const lost = weir.worker(queue, () => {}, { group: "nobody" });
    await assert.rejects(lost.run(), (e) => e instanceof WeirError && e.code === Code.groupNotFound);
  }
});

test("a worker calls maintain", async (t) => {
  const pool = poolOf(t);
  let maintained = 0;
  const query = (text: string, params: unknown[]) => {
    if (text.includes("weir.maintain")) maintained++;
    return pool.query(text, params);
  };
  const queue = await newQueue(t, new Client(pool));
  start(t, new Client({ query }), queue, () => {});
  await until("maintain is called, and again", () => maintained >= 2);
});

test("middleware wraps the handler, the first outermost, and sees what it throws", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const seen: string[] = [];
  const wrap = (name: string) => async (_: unknown, __: unknown, next: () => Promise<void>) => {
    seen.push(`${name} begins`);
    try {
      await next();
    } catch (error) {
      seen.push(`${name} sees ${(error as Error).message}`);
      throw new Reject((error as Error).message);
    }
  };
  const handler: Handler = () => {
    throw new Error("bad");
  };
  start(t, weir, queue, handler, { middleware: [wrap("outer"), wrap("inner")] });
  await weir.send(queue, 1);
  await empty(weir, queue);
  assert.deepEqual(seen, ["outer begins", "inner begins", "inner sees bad", "outer sees bad"]);
  assert.equal((await weir.deadLetters(queue))[0]?.reason, "bad");
});

test("a worker works once", async (t) => {
  const weir = await clientOf(t, dsn);
  const worker: Worker = weir.worker(await newQueue(t, weir), () => {});
  await worker.stop();
  await assert.rejects(worker.run(), /make another/);
  assert.throws(() => weir.worker("q", () => {}, { concurrency: 0 }), RangeError);
});
