/** A worker holds as many messages as its handlers are quick, and leaves time between its calls while many come. */

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { Client, type WorkerOptions } from "../src/index.js";
import { Cooldown, Pace } from "../src/pace.js";
import { clientOf, dsn, gate, newQueue, until } from "./setup.js";

/** Feeds a cooldown with fetches; in which share of many windows it is on. */
function windowsOn(cooldown: Cooldown, full: boolean, rate: (on: boolean) => number): number {
  const [fetches, windows] = [10, 2000];
  let [now, on] = [0, 0];
  cooldown.fetched(now, 0, false);
  for (let n = 0; n < windows; n++) {
    const messages = Math.floor((rate(cooldown.on) * 0.2) / fetches);
    if (cooldown.on) on++;
    for (let i = 0; i < fetches; i++) {
      now += 200.1 / fetches;
      cooldown.fetched(now, messages, full);
    }
  }
  return on / windows;
}

test("a cooldown is for thousands of messages a second that come as quickly with it", () => {
  const steady = (rate: number) => () => rate;
  const loop = (on: boolean) => (on ? 2000 : 4000);
  const cases: [string, number, number, boolean, (on: boolean) => number, number, number][] = [
    ["no message", 5, 30_000, false, steady(0), 0, 0],
    ["3,000 a second", 5, 30_000, false, steady(3000), 0, 0],
    ["4,000 a second", 5, 30_000, false, steady(4000), 0.99, 1],
    ["4,000 to 5,000", 5, 30_000, false, () => 4000 + 1000 * Math.random(), 0.9, 1],
    ["a backlog", 5, 30_000, true, steady(50_000), 0, 0],
    ["few in a loop", 5, 30_000, false, loop, 0.001, 0.05],
    ["none", 0, 30_000, false, steady(4000), 0, 0],
    ["longer", 20, 30_000, false, steady(1000), 0.99, 1],
    ["short lease", 5, 100, false, steady(4000), 0, 0],
  ];
  for (const [name, timeMs, leaseMs, full, rate, least, most] of cases) {
    const on = windowsOn(new Cooldown(timeMs, leaseMs), full, rate);
    assert.ok(on >= least && on <= most, `${name}: on in ${on} of the windows`);
  }
});

test("a cooldown is counted from the begin of the call before", () => {
  const cooldown = new Cooldown(5, 30_000);
  assert.equal(cooldown.leftMs(0), 0);
  cooldown.on = true;
  assert.deepEqual(
    [0, 4, 5, 3_600_000].map((ago) => cooldown.leftMs(ago)),
    [5, 1, 0, 0],
  );
});

test("a pace rises while handlers are quick and falls when they are slow", () => {
  const pace = new Pace(2, 1_000);
  pace.began(0);
  pace.fetched(true);
  assert.equal(pace.now, 4, "no handler had ended");
  const seen = [...Array(9).fill(true), false].map((full: boolean) => {
    pace.did(0.1);
    pace.fetched(full);
    return [pace.now, pace.claimMax];
  });
  assert.deepEqual(seen.slice(0, 2), [
    [8, 8],
    [16, 16],
  ]);
  assert.deepEqual(seen.at(-1), [1_000, 500]);
  pace.began(50);
  pace.began(400);
  pace.fetched(true);
  assert.equal(pace.now, 250, "a message had waited for 0.4 s");
  for (let n = 0; n < 20; n++) {
    pace.did(2);
    pace.fetched(true);
  }
  assert.ok(pace.now >= 99 && pace.now <= 100, "in 0.1 s two handlers work off a hundred");
  assert.equal(pace.slowed(200), 196);
  assert.deepEqual([pace.now, pace.slowed(3)], [4, 0]);
});

test("what waits for handlers that became slow is given back, its attempt not counted", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.sendBatch(
    queue,
    Array.from({ length: 2_000 }, (_, payload) => ({ payload })),
  );
  const finish = gate();
  let [handled, most] = [0, 0];
  const worker = weir.worker(
    queue,
    async () => {
      most = Math.max(most, worker.health().held);
      if (++handled > 1_000) await finish.opened;
    },
    { concurrency: 2, leaseMs: 24_000 },
  );
  const running = worker.run();
  t.after(async () => {
    finish.open();
    await worker.stop();
    await running;
  });
  await until("the rest is given back", () => handled === 1_002 && worker.health().held === 4);
  assert.ok(most > 100, `at most ${most} were held`);
  const left = [];
  while (left.length < 996) left.push(...(await weir.receive(queue, { max: 1_000, waitMs: 30_000 })));
  assert.deepEqual([...new Set(left.map((m) => m.attempt))], [1]);
});

/** Counts the calls that workers make. */
function counted(t: TestContext, name: "receive" | "settleAll"): () => number {
  const { mock } = t.mock.method(Client.prototype, name);
  return () => mock.callCount();
}

// The cooldowns of these tests are so long that the slowest machine sends many messages in one; a lease is at least 200
// times as long.

/** A worker, whose cooldown between fetches may stay off, and what it handled. */
async function working(t: TestContext, client: Client, queue: string, options: WorkerOptions, off = false) {
  const handled: unknown[] = [];
  const worker = client.worker(queue, ({ payload }) => void handled.push(payload), options);
  if (off) Object.assign((worker as unknown as { cool: Cooldown }).cool, { fetched: () => {} });
  const running = worker.run();
  t.after(() => worker.stop());
  const stop = async () => {
    await worker.stop();
    await running;
  };
  return { handled, stop };
}

for (const ordered of [false, true]) {
  const name = `a worker of many single messages${ordered ? " of an ordered group" : ""}`;
  test(`${name} needs far fewer calls and handles each once`, (t) => fewCalls(t, ordered));
}

async function fewCalls(t: TestContext, ordered: boolean): Promise<void> {
  const client = await clientOf(t, dsn);
  const queue = await newQueue(t, client);
  const group = "mine";
  await client.createGroup(queue, group, { ordered });
  const [receives, acks] = [counted(t, "receive"), counted(t, "settleAll")];
  const options = { group, concurrency: 4, prefetch: 1000, cooldownMs: 5_000, leaseMs: 3_600_000 };
  const { handled, stop } = await working(t, client, queue, options);
  let [sent, ended] = [0, false];
  const flow = (async () => {
    for (; !ended; sent++) await client.send(queue, sent);
  })();
  for (const calls of [receives, acks])
    await until("few calls", async () => {
      const [before, seen] = [calls(), handled.length];
      await until("500 messages", () => handled.length >= seen + 500);
      return calls() <= before + 20;
    });
  ended = true;
  await flow;
  await stop();
  const rest = await working(t, client, queue, { group });
  await until("all are handled", () => handled.length + rest.handled.length >= sent);
  await rest.stop();
  const all = [...handled, ...rest.handled].map(Number).sort((a, b) => a - b);
  assert.deepEqual(
    all,
    Array.from({ length: sent }, (_, n) => n),
  );
}

test("a worker that stops or has no room waits for no cooldown", async (t) => {
  const client = await clientOf(t, dsn);
  const queue = await newQueue(t, client);
  const options = { prefetch: 100, cooldownMs: 600_000, leaseMs: 360_000_000 };
  const { handled, stop } = await working(t, client, queue, options);
  const batch = Array.from({ length: 2000 }, (_, payload) => ({ payload }));
  await client.sendBatch(queue, batch); // room for all of them is made twenty times
  await until("all are handled", () => handled.length === 2000);
  await stop();
  assert.equal((await client.stats(queue))[0]?.claimed, 0);
});

test("what other messages may wait for is acked at once", async (t) => {
  const client = await clientOf(t, dsn);
  const queue = await newQueue(t, client);
  await client.createGroup(queue, "limited", { concurrencyMax: 1 });
  for (const group of ["limited", "default"]) {
    const options = { group, cooldownMs: 600_000, leaseMs: 360_000_000 };
    const { handled, stop } = await working(t, client, queue, options, true);
    for (let n = 0; n < 5; n++) {
      await client.send(queue, n, { key: "k" });
      await until(`message ${n} is acked`, async () => {
        const found = (await client.stats(queue)).find((stats) => stats.group === group);
        return handled.includes(n) && found?.claimed === 0;
      });
    }
    await stop();
  }
});

test("an ordered group is told of each message at once while fetches wait", async (t) => {
  const client = await clientOf(t, dsn);
  const queue = await newQueue(t, client, { ordered: true });
  await client.sendBatch(
    queue,
    Array.from({ length: 20 }, (_, n) => ({ payload: n, key: `${n}` })),
  );
  let seen = 0;
  const going = gate();
  const worker = client.worker(
    queue,
    async () => {
      if (++seen > 1) await going.opened;
    },
    { concurrency: 20, prefetch: 100, cooldownMs: 600_000, leaseMs: 360_000_000 },
  );
  Object.assign((worker as unknown as { cool: Cooldown }).cool, { on: true, fetched: () => {} });
  const running = worker.run();
  t.after(() => worker.stop());
  const claimed = async () => (await client.stats(queue))[0]?.claimed;
  try {
    await until("all are seen", () => seen === 20);
    await until("the first is acked", async () => (await claimed()) === 19);
    going.open();
    await until("all are acked", async () => (await claimed()) === 0);
  } finally {
    going.open();
  }
  await worker.stop();
  await running;
});

test("a negative cooldown is refused", async (t) => {
  const client = await clientOf(t, dsn);
  assert.throws(() => client.worker("q", () => {}, { cooldownMs: -1 }), RangeError);
});
