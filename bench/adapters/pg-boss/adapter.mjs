// Drives pg-boss as https://github.com/timgit/pg-boss/blob/10.4.2/docs/readme.md says.
import { setTimeout as sleep } from "node:timers/promises";
import { Cannot, insist, installed, run } from "../protocol.mjs";

const PgBoss = installed("pg-boss");

async function open(c, options = {}) {
  const boss = new PgBoss({ connectionString: c.dsn, max: Math.min(50, Math.max(10, c.clients)), ...options });
  boss.on("error", () => {});
  return boss.start();
}

run({
  async setup(c) {
    if (c.groups || c.ordered) throw new Cannot("no groups, no keys in order");
    const boss = await open(c);
    await boss.createQueue("bench");
    await boss.stop({ graceful: false });
    return installed("pg-boss/package.json").version;
  },

  async producer(c) {
    const boss = await open(c, { supervise: false, schedule: false, migrate: false, max: 1 });
    // A dead worker's jobs are retried when they expire, after 15 minutes unless a job says otherwise.
    const lease = c.lease_s ? { expireInSeconds: c.lease_s, retryDelay: 0 } : {};
    return (batch) =>
      batch.length === 1
        ? boss.send("bench", batch[0].payload, lease)
        : boss.insert(batch.map((m) => ({ name: "bench", data: m.payload, ...lease })));
  },

  async work(c, ledger, ready) {
    const boss = await open(c, c.lease_s ? { maintenanceIntervalSeconds: 1 } : {});
    await ready();
    const handle = async (jobs) => {
      ledger.add(...jobs.map((job) => job.data.n));
      if (c.perpetual) for (const job of jobs) await boss.send("bench", job.data);
    };
    if (c.setting === "default") {
      for (let i = 0; i < c.clients; i++) await boss.work("bench", handle);
      await c.stopped;
      await boss.stop({ graceful: true, timeout: 30_000 });
      return;
    }
    // fetch() and complete() are the documented way to work without its polling, which is never shorter than 0.5 s.
    const batchSize = c.perpetual || c.batch === 1 ? 1 : Math.max(c.batch, 100);
    const worker = async () => {
      while (!c.stopping) {
        const jobs = await insist(c, () => boss.fetch("bench", { batchSize }));
        if (jobs.length === 0) {
          await sleep(1);
          continue;
        }
        await handle(jobs);
        await insist(c, () => boss.complete("bench", jobs.map((job) => job.id)));
      }
    };
    await Promise.all(Array.from({ length: c.clients }, worker));
    await boss.stop({ graceful: false });
  },
});
