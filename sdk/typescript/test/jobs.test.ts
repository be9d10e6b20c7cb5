import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { Client, type Jobs, RetryAfter, Snooze } from "../src/index.js";
import { clientOf, dsn, newQueue, poolOf, secured, until, url } from "./setup.js";

const quiet = { onError: () => {} };

/** Runs the jobs of a queue until something is true. */
async function working(
  jobs: Pick<Jobs<Record<never, never>>, "worker">,
  what: string,
  done: () => boolean | Promise<boolean>,
  options: object = {},
): Promise<void> {
  const worker = jobs.worker({ ...quiet, ...options });
  const running = worker.run();
  try {
    await until(what, done);
  } finally {
    await worker.stop();
    await running;
  }
}

test("a job runs by its kind, tells its progress, and its result is kept", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  let seen: unknown;
  const jobs = weir.jobs(queue, {
    welcome: async ({ user }: { user: number }, job) => {
      assert.ok(await job.progress({ half: true }));
      seen = await jobs.status(job.id);
      return { sent: user };
    },
    nothing: () => {},
  });
  const id = await jobs.enqueue("welcome", { user: 7 }, { tracked: true });
  const plain = await jobs.enqueue("nothing", {});
  assert.equal((await jobs.status(id))?.state, "waiting");
  // @ts-expect-error -- the arguments have types
  jobs.enqueue.bind(jobs, "welcome", { user: "seven" });
  await working(jobs, "it is done", async () => (await jobs.status(id))?.state === "done");
  const { state, progress } = seen as { state: string; progress: unknown };
  assert.deepEqual([state, progress], ["running", { half: true }]);
  assert.deepEqual((await jobs.status(id))?.result, { sent: 7 });
  assert.equal(await jobs.status(plain), null, "it was not tracked");
});

test("unique jobs are enqueued once, also many at a time, and a rolled-back one is not there", async (t) => {
  const weir = new Client(poolOf(t));
  const queue = await newQueue(t, weir);
  const seen: number[] = [];
  const jobs = weir.jobs(queue, { sync: ({ account }: { account: number }) => seen.push(account) });
  await assert.rejects(
    weir.transaction(async (tx) => {
      await jobs.in(tx).enqueue("sync", { account: 9 }, { unique: true });
      throw new Error("no");
    }),
  );
  const first = await jobs.enqueue("sync", { account: 1 }, { unique: true });
  assert.equal(await jobs.enqueue("sync", { account: 1 }, { unique: true }), first);
  const each = [1, 2, 3, 2].map((account) => ({ account }));
  const batch = await jobs.enqueueMany("sync", each, { unique: true });
  assert.deepEqual(
    batch.map((item) => item.repeated),
    [true, false, false, true],
  );
  assert.equal(batch[0]?.id, first);
  await working(jobs, "all have run", () => seen.length === 3);
  assert.deepEqual(seen.sort(), [1, 2, 3]);
});

test("a snoozed job comes again uncounted, and a kind that nobody knows is a failure", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.createGroup(queue, "g", { maxAttempts: 1 });
  const attempts: number[] = [];
  const jobs = weir.jobs(queue, {
    later: (_: object, job) => {
      attempts.push(job.attempt);
      if (attempts.length < 3) throw new Snooze(5);
    },
  });
  await jobs.enqueue("later", {});
  await weir.enqueue(queue, "unknown");
  const dead = async () => weir.deadLetters(queue, { group: "g" });
  await working(jobs, "both ended", async () => attempts.length === 3 && (await dead()).length === 1, {
    group: "g",
  });
  assert.deepEqual(attempts, [1, 1, 1]);
  assert.equal((await dead())[0]?.reason, "Error: this worker has no function for the kind unknown");
});

test("a cancelled job is not run, and a running one is told", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  let began = 0;
  const jobs = weir.jobs(queue, {
    endless: (_: object, { signal }) => {
      began++;
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  const never = await jobs.enqueue("endless", {}, { tracked: true });
  assert.equal(await jobs.cancel(never, "not wanted"), "cancelled");
  const id = await jobs.enqueue("endless", {}, { tracked: true });
  let told = false;
  const done = async () => {
    if (began === 1 && !told) {
      told = true;
      assert.equal(await jobs.cancel(id), "running");
    }
    return (await jobs.status(id))?.state === "cancelled" && (await weir.stats(queue))[0]?.claimed === 0;
  };
  await working(jobs, "it was told", done, { leaseMs: 30_000 });
  assert.equal(began, 1);
  assert.equal((await jobs.status(never))?.error, "not wanted");
});

test("over HTTP jobs run as over SQL, and a cancelled one is told", async (t) => {
  const weir = await clientOf(t, secured.url, { token: () => Promise.resolve(secured.token) });
  const queue = await newQueue(t, weir);
  let cancelled: string | undefined;
  const jobs = weir.jobs(queue, {
    add: async ({ a, b }: { a: number; b: number }, job) => {
      assert.ok(await job.progress({ half: true }));
      return a + b;
    },
    endless: (_: object, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  const id = await jobs.enqueue("add", { a: 1, b: 2 }, { tracked: true });
  const endless = await jobs.enqueue("endless", {}, { tracked: true });
  const ended = async () => {
    const state = (await jobs.status(endless))?.state;
    if (state === "running") cancelled ??= await jobs.cancel(endless);
    return (await jobs.status(id))?.state === "done" && state === "cancelled";
  };
  await working(jobs, "both ended", ended, { leaseMs: 30_000 });
  assert.deepEqual((await jobs.status(id))?.result, 3);
  assert.equal(cancelled, "running");
});

const clients: Record<string, (t: TestContext) => Promise<Client>> = {
  SQL: async (t) => new Client(poolOf(t)),
  HTTP: (t) => clientOf(t, url),
};

for (const [way, clientFor] of Object.entries(clients)) {
  test(`over ${way} what a job's function sends and returns in a transaction is kept together`, (t) =>
    handsOn(t, clientFor));
}

async function handsOn(t: TestContext, clientFor: (t: TestContext) => Promise<Client>) {
  const weir = await clientFor(t);
  const queue = await newQueue(t, weir);
  const next = await newQueue(t, weir);
  const jobs = weir.jobs(queue, {
    hand: async ({ n }: { n: number }, job) =>
      job.finish(async (tx) => {
        await tx.send(next, n);
        if (job.attempt === 1) throw new RetryAfter(0);
        return { sent: n };
      }),
  });
  const id = await jobs.enqueue("hand", { n: 7 }, { tracked: true });
  await working(jobs, "it is done", async () => (await jobs.status(id))?.state === "done");
  const status = await jobs.status(id);
  assert.deepEqual([status?.result, status?.attempt], [{ sent: 7 }, 2]);
  const sent = await weir.pop(next, { max: 10 });
  assert.deepEqual(
    sent.map((m) => m.payload),
    [7],
    "what the first attempt sent was rolled back",
  );
}
