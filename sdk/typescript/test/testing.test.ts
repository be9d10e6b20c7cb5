import assert from "node:assert/strict";
import test, { after } from "node:test";
import { exactlyOnce, type Handler, RetryAfter } from "../src/index.js";
import { memory, TestWeir } from "../src/testing.js";
import { gate, newQueue, poolOf, renewals, until } from "./setup.js";

type Queues = { orders: { id: number }; long: number; mails: { to: number }; letters: { to: number } };

// One for all tests here: a database within the process takes seconds to start.
const weir = await memory<Queues>();
after(() => weir.close());

test("in memory: a handler runs until its queue is empty, and what it sent is there to look at", async () => {
  await weir.createQueue("orders");
  await weir.createQueue("mails");
  await weir.lite.exec("create table packed (id int)");
  await weir.sendBatch("orders", [{ payload: { id: 1 } }, { payload: { id: 2 } }]);
  assert.deepEqual(await weir.sent("orders"), [{ id: 1 }, { id: 2 }]);
  const pack = exactlyOnce<Queues["orders"], Queues>(async ({ payload }, { tx, db }) => {
    if (payload.id === 2) throw new RetryAfter(3_600_000);
    await db.query("insert into packed values ($1)", [payload.id]);
    await tx.send("mails", { to: payload.id });
  });
  const worked = await weir.work("orders", pack);
  assert.deepEqual(
    worked.done.map((m) => m.payload.id),
    [1],
  );
  assert.deepEqual(
    worked.failed.map((f) => [f.message.payload.id, f.error instanceof RetryAfter]),
    [[2, true]],
  );
  assert.deepEqual(await weir.sent("mails"), [{ to: 1 }]);
  const { rows } = (await weir.lite.query("select id from packed", [])) as { rows: unknown[] };
  assert.deepEqual(rows, [{ id: 1 }]);
});

test("in memory: time can be moved", async () => {
  await weir.createQueue("letters");
  await weir.send("letters", { to: 7 }, { delayMs: 86_400_000 });
  assert.deepEqual(await weir.receive("letters"), []);
  await weir.advance(86_400_000);
  const [got] = await weir.receive("letters");
  assert.deepEqual(got?.payload, { to: 7 });
  await weir.advance(30_001);
  assert.equal((await weir.receive("letters"))[0]?.attempt, 2, "its lease has ended");
});

test("on a server: the same assertions", async (t) => {
  const server = new TestWeir(poolOf(t));
  const queue = await newQueue(t, server);
  await server.send(queue, "a");
  const worked = await server.work(queue, () => {});
  assert.deepEqual(
    worked.done.map((m) => m.payload),
    ["a"],
  );
  await assert.rejects(
    server.work("no-such-queue", () => {}),
    { code: "WR001" },
  );
});

test("in memory: a message whose handler takes longer than the lease runs once", async (t) => {
  await weir.createQueue("long");
  await weir.send("long", 1);
  const leaseMs = 3_600_000;
  const runs: number[] = [];
  const finish = gate();
  const handler: Handler<number, Queues> = async ({ attempt }) => {
    runs.push(attempt);
    await finish.opened;
  };
  const { deadlines, hurry } = renewals(t);
  const worker = hurry(weir.worker("long", handler, { leaseMs }));
  void worker.run();
  t.after(() => worker.stop({ hard: true }));
  await until("the handler runs", () => runs.length === 1);
  const other = weir.worker("long", handler, { leaseMs });
  void other.run();
  t.after(() => other.stop({ hard: true }));
  await until("the lease is renewed", () => deadlines.length > 0);
  for (let hours = 0; hours < 3; hours += 0.75) {
    const before = deadlines.at(-1) ?? 0;
    await weir.advance(0.75 * leaseMs);
    await until("the lease is renewed from then on", () => (deadlines.at(-1) ?? 0) > before + 0.7 * leaseMs);
    const looked = other.health().receivedAt;
    await until("the other has looked", () => other.health().receivedAt !== looked);
  }
  finish.open();
  await worker.stop();
  assert.deepEqual(runs, [1]);
  assert.equal(worker.health().lost, 0);
  assert.equal((await weir.stats("long"))[0]?.claimed, 0, "it is acked");
});
