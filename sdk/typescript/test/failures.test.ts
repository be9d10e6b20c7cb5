/** What a worker logs of failures. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { clientOf, dsn, newQueue, until } from "./setup.js";

test("a failure is logged with its attempt and what comes next", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  await weir.createGroup(queue, "g", { maxAttempts: 2, backoffMinMs: 0, backoffMaxMs: 0 });
  const logged: string[][] = [];
  t.mock.method(console, "warn", (...args: string[]) => logged.push(["warn", ...args]));
  t.mock.method(console, "error", (...args: string[]) => logged.push(["error", ...args]));
  const id = await weir.send(queue, null);
  const explode = () => {
    throw new RangeError("boom");
  };
  const worker = weir.worker(queue, () => explode(), { group: "g" });
  const run = worker.run();
  await until(
    "the message to be dead",
    async () => (await weir.deadLetters(queue, { group: "g" })).length === 1,
  );
  await worker.stop();
  await run;
  const [first, last] = logged;
  const head = `weir: message ${id} of queue ${queue}, attempt`;
  const again = `${head} 1 of 2, failed and is delivered again after the backoff of the group: RangeError: boom\n`;
  assert.ok(first?.[1]?.startsWith(again), first?.[1]);
  assert.ok(
    last?.[1]?.startsWith(`${head} 2 of 2, failed and is a dead letter: RangeError: boom\n`),
    last?.[1],
  );
  assert.deepEqual([first?.[0], last?.[0], logged.length], ["warn", "error", 2]);
  assert.match(first?.[1] ?? "", /explode .*failures\.test/);
  assert.doesNotMatch(first?.[1] ?? "", /src\/worker|node:internal/);
});
