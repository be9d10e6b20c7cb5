/** How a worker keeps its claims: renewed while they are held, lost only when somebody else has them. */

import assert from "node:assert/strict";
import test from "node:test";
import { Client, Code, exactlyOnce, WeirError } from "../src/index.js";
import { clientOf, dsn, gate, newQueue, poolOf, renewals, targets, until } from "./setup.js";

test("a renewal that meets the ack of its claim loses nothing", async (t) => {
  const [extending, acked, refused] = [gate(), gate(), gate()];
  const { hurry } = renewals(t);
  const { extend, settleAll } = Client.prototype;
  const codes: unknown[] = [];
  t.mock.method(
    Client.prototype,
    "extend",
    async function (this: Client, ...args: Parameters<typeof extend>) {
      extending.open();
      await acked.opened;
      try {
        return await extend.apply(this, args);
      } catch (error) {
        codes.push(error instanceof WeirError && error.code);
        throw error;
      } finally {
        refused.open();
      }
    },
  );
  t.mock.method(
    Client.prototype,
    "settleAll",
    async function (this: Client, ...args: Parameters<typeof settleAll>) {
      const counts = await settleAll.apply(this, args);
      acked.open();
      await refused.opened; // the worker hears of the renewal first
      return counts;
    },
  );
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.send(queue, 1);
  const errors: unknown[] = [];
  const worker = weir.worker(queue, () => extending.opened, {
    leaseMs: 3_600_000,
    onError: (error) => errors.push(error),
  });
  const running = hurry(worker).run();
  await refused.opened;
  await worker.stop();
  await running;
  assert.deepEqual(codes, [Code.claimExpired]);
  assert.deepEqual(errors, []);
  assert.equal(worker.health().lost, 0);
});

test("a handler whose transaction outlasts the lease is not told that its claim is lost", async (t) => {
  const leaseMs = 3_000;
  const weir = new Client(poolOf(t));
  const queue = await newQueue(t, weir);
  const next = await newQueue(t, weir);
  await weir.sendBatch(
    queue,
    [1, 2, 3].map((payload) => ({ payload })),
  );
  const told: boolean[] = [];
  const handler = exactlyOnce(async ({ payload }, { tx, signal }) => {
    const end = performance.now() + 1.5 * leaseMs;
    await until("the lease is over", () => performance.now() > end);
    told.push(signal.aborted);
    await tx.send(next, payload);
  });
  const worker = weir.worker(queue, handler, { leaseMs, concurrency: 2, onError: () => {} });
  t.after(() => worker.stop({ hard: true }));
  void worker.run();
  await until("all is done", async () => {
    const [stats] = await weir.stats(queue);
    return stats && stats.waiting + stats.claimed + stats.delayed === 0;
  });
  await worker.stop();
  const payloads = (await weir.pop(next, { max: 10 })).map((m) => Number(m.payload));
  assert.deepEqual(payloads.sort(), [1, 2, 3]);
  assert.ok(!told.includes(true));
});

for (const [name, target] of Object.entries(targets)) {
  test(`${name}: a job that ends with its transaction is renewed until then`, async (t) => {
    const { deadlines, hurry } = renewals(t);
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    const jobs = weir.jobs(queue, {
      long: (_, job) =>
        job.finish(async () => {
          await until("it is renewed", () => deadlines.length >= 3);
          return "done";
        }),
    });
    const id = await jobs.enqueue("long", {}, { tracked: true });
    const worker = hurry(jobs.worker({ leaseMs: 3_600_000 }));
    t.after(() => worker.stop({ hard: true }));
    void worker.run();
    await until("it is done", async () => (await jobs.status(id))?.state === "done");
    await worker.stop();
    assert.equal((await jobs.status(id))?.result, "done");
  });

  test(`${name}: a handler that finishes its message late is renewed until it begins to`, async (t) => {
    const { deadlines, hurry } = renewals(t);
    const weir = await clientOf(t, target);
    const queue = await newQueue(t, weir);
    await weir.send(queue, 1);
    const worker = hurry(
      weir.worker(
        queue,
        async (_, context) => {
          await until("it is renewed", () => deadlines.length >= 2);
          await context.finish(async () => {});
        },
        { leaseMs: 3_600_000 },
      ),
    );
    t.after(() => worker.stop({ hard: true }));
    void worker.run();
    await until("it is done", async () => {
      const [stats] = await weir.stats(queue);
      return stats && stats.waiting + stats.claimed + stats.delayed === 0;
    });
    await worker.stop();
    assert.equal(worker.health().lost, 0);
  });
}
