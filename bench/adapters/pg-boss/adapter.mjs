// Drives pg-boss as https://pgboss.io/api/workers and https://pgboss.io/api/jobs say.
import { setTimeout as sleep } from "node:timers/promises";
import { Cannot, insist, installed, run, version } from "../protocol.mjs";

const { PgBoss } = installed("pg-boss");

const BATCH_MIN = 100; // jobs a fetch at its best
const EVERY_SECOND = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };

async function open(c, options = {}) {
  const boss = new PgBoss({ connectionString: c.dsn, max: Math.min(50, Math.max(10, c.clients)), ...options });
  boss.on("error", () => {});
  return boss.start();
}

run({
  async setup(c) {
    if (c.groups || c.ordered) throw new Cannot("no groups, no keys in order");
    const boss = await open(c);
    // partition: a table of its own, "more useful for large queues": https://pgboss.io/api/queues
    await boss.createQueue("bench", { partition: c.setting === "best" });
    await boss.stop({ graceful: false });
    return version("pg-boss");
  },

  async producer(c) {
    const boss = await open(c, { supervise: false, schedule: false, migrate: false, max: 1 });
    // A dead worker's jobs are retried when they expire, after 15 minutes unless a job says otherwise.
    const lease = c.lease_s ? { expireInSeconds: c.lease_s, retryDelay: 0 } : {};
    return (batch) =>
      batch.length === 1
        ? boss.send("bench", batch[0].payload, lease)
        : boss.insert("bench", batch.map((m) => ({ data: m.payload, ...lease })));
  },

  async work(c, ledger, ready) {
    const boss = await open(c, c.lease_s ? EVERY_SECOND : {});
    await ready();
    const handle = async (jobs) => {
      ledger.add(...jobs.map((job) => job.data.n));
      if (c.perpetual) for (const job of jobs) await boss.send("bench", job.data);
    };
    if (c.setting === "default") {
      await boss.work("bench", { localConcurrency: c.clients }, handle);
      await c.stopped;
      await boss.stop({ graceful: true, timeout: 30_000 });
      return;
    }
    const batchSize = Math.max(c.batch, BATCH_MIN);
    // fetch() and complete() are for workers that poll by themselves: https://pgboss.io/api/jobs. work() with batches,
    // burstWhenBatchFull and LISTEN/NOTIFY is as quick to see a job, and finishes fewer a second.
    const worker = async () => {
      while (!c.stopping) {
        const jobs = await insist(c, () => boss.fetch("bench", { batchSize }));
        if (jobs.length === 0) {
          await sleep(1);
          continue;
        }
        await handle(jobs);
        await insist(c, () => boss.complete("bench", jobs));
      }
    };
    await Promise.all(Array.from({ length: c.clients }, worker));
    await boss.stop({ graceful: false });
  },
});
