/** How a worker learns of messages: what it asks for, and when. */

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import pg from "pg";
import { Client } from "../src/index.js";
import { Waiter } from "../src/listener.js";
import { clientOf, dsn, newQueue, poolOf, until } from "./setup.js";

/** What a worker asks of the engine to get messages, in order: "receive 100", for so many, and "mark". */
class Requests {
  readonly list: string[] = [];

  /** A pool whose connections, and those that are made like them, note what they are asked. */
  pool(t: TestContext): pg.Pool {
    const { list } = this;
    const noting = class extends pg.Client {
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- query has many forms
      override query(...args: any[]): any {
        const [first, more] = args as [string | pg.QueryConfig, unknown[]];
        const { text, values = [] } = typeof first === "string" ? { text: first, values: more } : first;
        if (String(text).includes("receive_records")) list.push(`receive ${values[2]}`);
        if (String(text).includes("mark_waiting")) list.push("mark");
        return super.query(...(args as Parameters<pg.Client["query"]>));
      }
    };
    return poolOf(t, { Client: noting });
  }

  count(call: string): number {
    return this.list.filter((other) => other === call).length;
  }

  /** Which calls came next to those that are like one. */
  after(call: string): Set<string> {
    return new Set(this.list.filter((_, i) => this.list[i - 1] === call));
  }

  /** The largest number of receives between one mark and the next. */
  looks(): number {
    const [, ...between] = this.list.join(" ").split("mark");
    return Math.max(0, ...between.slice(0, -1).map((calls) => calls.split("receive").length - 1));
  }
}

/** A worker, what it asks for, and a function that sends a message and waits until it is handled. */
async function seenWorker(t: TestContext) {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const seen = new Requests();
  let handled = 0;
  const worker = new Client(seen.pool(t)).worker(queue, () => handled++, {
    concurrency: 4,
    prefetch: 100,
    onError: () => {},
  });
  void worker.run();
  t.after(() => worker.stop({ hard: true }));
  const sendHandled = async () => {
    const before = handled;
    await weir.send(queue, before);
    await until("the message is handled", () => handled > before);
  };
  return { seen, sendHandled };
}

test("a worker that is told of a message receives that one and marks the queue again", async (t) => {
  const { seen, sendHandled } = await seenWorker(t);
  // Unless it is told, a look before it had found the message.
  await until("the worker is told of a message", async () => {
    const marks = seen.count("mark");
    await until("the queue is marked", () => seen.count("mark") > marks);
    await sendHandled();
    return seen.after("receive 1").size > 0;
  });
  assert.deepEqual(seen.after("receive 1"), new Set(["mark"]));
});

test("a worker looks again and again while a transaction is writing", async (t) => {
  // Who wrote before the mark was set may not have seen it: what he sends is there, and nobody is told.
  const writer = new pg.Client(dsn);
  await writer.connect();
  t.after(() => writer.end());
  await writer.query("begin");
  await writer.query("select pg_current_xact_id()");
  const { seen, sendHandled } = await seenWorker(t);
  await until("a look after each step from 2 to 128 ms", async () => {
    await sendHandled(); // which begins the steps anew
    const marks = seen.count("mark");
    await until("the mark at the end of the steps", () => seen.count("mark") >= marks + 2);
    return seen.looks() >= 7;
  });
});

test("a send between looking and waiting is not missed", async (t) => {
  const weir = await clientOf(t, dsn);
  const queue = await newQueue(t, weir);
  const waiter = new Waiter(queue, poolOf(t));
  t.after(() => waiter.close());
  await waiter.wait(); // a breath
  await waiter.wait(); // marks the queue
  assert.deepEqual(await weir.receive(queue), []);
  await weir.send(queue, 1);
  await waiter["quiet"](); // answered behind the notification
  await waiter.wait();
  assert.ok(waiter.told);
});
