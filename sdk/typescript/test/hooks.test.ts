/** Hooks: they stand around all that a client sends, see it, and may change or refuse it. */

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import type { Client, Hooks, Message, Outgoing } from "../src/index.js";
import { clientOf, newQueue, targets } from "./setup.js";

/** A client whose hooks note what is sent, mark it, and refuse it when told to. */
async function watched(t: TestContext, target: string) {
  const calls: { destination: string; messages: readonly Outgoing[] }[] = [];
  const told = { refusal: undefined as Error | undefined };
  const hooks: Hooks = {
    sending: async (destination, messages, send) => {
      calls.push({ destination, messages });
      if (told.refusal) throw told.refusal;
      return send(messages.map((m, i) => ({ ...m, headers: { ...m.headers, mark: i } })));
    },
    processing: (_message, run) => run(),
  };
  return { weir: await clientOf(t, target, { hooks }), calls, told };
}

const one = { kind: "a", args: { n: 1 }, key: "k", headers: { own: 1 } };
const two = { kind: "b" };

const calls: Record<string, (weir: Client, queue: string) => Promise<unknown>> = {
  sendBatch: (weir, queue) =>
    weir.sendBatch(queue, [{ payload: { n: 1 }, key: "k", headers: { own: 1 } }, { payload: {} }]),
  enqueueBatch: (weir, queue) => weir.enqueueBatch(queue, [one, two]),
  startWorkflow: (weir, queue) => weir.startWorkflow(queue, [one, two]),
  startChain: (weir, queue) => weir.startChain(queue, [one, two]),
  startBatch: (weir, queue) => weir.startBatch(queue, [one], two),
};

/** Takes two messages, each finished before the next is asked for. */
async function takeTwo(weir: Client, queue: string): Promise<Message[]> {
  const got: Message[] = [];
  while (got.length < 2) {
    for (const message of await weir.receive(queue, { waitMs: 1_000 })) {
      got.push(message);
      await weir.finish(queue, message);
    }
  }
  return got;
}

for (const [way, target] of Object.entries(targets)) {
  for (const [name, call] of Object.entries(calls)) {
    test(`a hook sees all that ${name} sends at once and what it adds arrives, over ${way}`, async (t) => {
      const { weir, calls } = await watched(t, target);
      const queue = await newQueue(t, weir);
      await call(weir, queue);
      assert.equal(calls.length, 1);
      assert.equal(calls[0]?.destination, queue);
      const seen = calls[0]?.messages.map(({ payload, key, headers }) => [payload, key, headers]);
      assert.deepEqual(seen, [
        [{ n: 1 }, "k", { own: 1 }],
        [{}, undefined, undefined],
      ]);
      const got = (await takeTwo(weir, queue)).sort(
        (a, b) => Number(a.headers?.mark) - Number(b.headers?.mark),
      );
      assert.deepEqual(
        got.map((m) => [m.payload, m.key, m.headers?.own, m.headers?.mark]),
        [
          [{ n: 1 }, "k", 1, 0],
          [{}, null, undefined, 1],
        ],
      );
    });
  }

  test(`what a hook refuses is not sent, over ${way}`, async (t) => {
    const { weir, told } = await watched(t, target);
    const queue = await newQueue(t, weir);
    told.refusal = new Error("not today");
    for (const call of Object.values(calls)) await assert.rejects(call(weir, queue), told.refusal);
    assert.deepEqual(await weir.peek(queue), []);
  });
}

test("a hook may change what is enqueued or published, and stands around a transaction's calls", async (t) => {
  const hooks: Hooks = {
    sending: (_destination, messages, send) => send(messages.map(() => ({ payload: "other", key: "o" }))),
    processing: (_message, run) => run(),
  };
  const weir = await clientOf(t, targets.sql, { hooks });
  const queue = await newQueue(t, weir);
  await weir.bind(queue, queue);
  await weir.publish(queue, 1, { headers: { a: 1 } });
  await weir.transaction((tx) => tx.enqueue(queue, "a", 2, { key: "k" }));
  const got = await weir.pop(queue, { max: 2 });
  assert.deepEqual(
    got.map((m) => [m.payload, m.key]),
    [
      ["other", "o"],
      ["other", "o"],
    ],
  );
});

test("a hook that passes on fewer messages is told so", async (t) => {
  const hooks: Hooks = {
    sending: (_destination, _messages, send) => send([]),
    processing: (_message, run) => run(),
  };
  const weir = await clientOf(t, targets.sql, { hooks });
  const queue = await newQueue(t, weir);
  for (const call of Object.values(calls)) await assert.rejects(call(weir, queue), RangeError);
});
