// Drives graphile-worker as https://worker.graphile.org/docs says.
import { Cannot, insist, installed, run, version } from "../protocol.mjs";

const { Logger, makeWorkerUtils, run: runWorker } = installed("graphile-worker");

// It logs every job, to standard output too.
const logger = new Logger(() => () => {});

// The best that it publishes: https://worker.graphile.org/docs/performance and
// https://worker.graphile.org/docs/config#workercompletejobbatchdelay
const best = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const bestConcurrency = 24;

run({
  async setup(c) {
    if (c.groups) throw new Cannot("no groups");
    const utils = await makeWorkerUtils({ connectionString: c.dsn, logger });
    await utils.migrate();
    await utils.release();
    return version("graphile-worker");
  },

  async producer(c) {
    const utils = await makeWorkerUtils({ connectionString: c.dsn, logger, maxPoolSize: 1 });
    // A named queue is worked on serially: that is what it has for keys.
    return (batch) =>
      batch.length === 1
        ? utils.addJob("bench", batch[0].payload, batch[0].key ? { queueName: batch[0].key } : {})
        : utils.addJobs(batch.map((m) => ({ identifier: "bench", payload: m.payload, queueName: m.key ?? undefined })));
  },

  async work(c, ledger, ready) {
    const tuned = c.setting === "best" && !c.ordered; // a local queue holds jobs of one named queue one at a time
    const concurrentJobs = tuned && !c.perpetual ? Math.max(c.clients, bestConcurrency) : c.clients;
    const preset = { worker: { concurrentJobs, maxPoolSize: Math.max(10, concurrentJobs + 2), ...(tuned ? best : {}) } };
    await ready();
    const start = () =>
      runWorker({
        connectionString: c.dsn,
        logger,
        noHandleSignals: true,
        preset,
        taskList: {
          bench: async (payload, helpers) => {
            ledger.add(payload.n);
            if (c.perpetual) await helpers.addJob("bench", payload);
          },
        },
      });
    while (!c.stopping) {
      const runner = await insist(c, start); // the server may be killed while it starts
      const ended = runner.promise.catch((error) => {
        if (!c.lease_s) throw error; // a runner that lost its server ends, and is started again
      });
      if ((await Promise.race([c.stopped.then(() => "stop"), ended])) === "stop") return runner.stop();
    }
  },
});
