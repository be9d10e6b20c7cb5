/** For the tests of programs that use Weir. */

import { readFile } from "node:fs/promises";
import { Client, type ClientOptions } from "./client.js";
import type { Queryable } from "./database.js";
import type { ClaimedMessage, QueueMap, QueueName } from "./types.js";
import type { Handler, WorkerOptions } from "./worker.js";

/** What PGlite has, as far as it matters here. */
interface Lite extends Queryable {
  exec(script: string): Promise<unknown>;
  close(): Promise<void>;
}

/** What a queue's work came to. */
export interface Worked<T = unknown> {
  /** Messages that were handled and acked, in the order in which their handlers ended. */
  done: ClaimedMessage<T>[];
  /** Those whose handlers failed, or asked for a retry or a rejection, and with what. */
  failed: { message: ClaimedMessage<T>; error: unknown }[];
}

// The engine reads the time by one function; this one can be moved.
const sqlClock = `
  create sequence weir_internal.test_clock minvalue 0 start 0;
  create or replace function weir_internal.clock() returns timestamptz language sql volatile as $$
    select clock_timestamp() + (select last_value from weir_internal.test_clock) * interval '1 millisecond'
  $$`;
const sqlTravel = "select setval('weir_internal.test_clock', $1::text::bigint)";

/** A client with what tests need beside. */
export class TestWeir<Q extends object = QueueMap> extends Client<Q> {
  /** The payloads that wait in a queue for a group, in the order in which they were sent: what a program has sent. */
  async sent<K extends QueueName<Q>>(queue: K, group?: string): Promise<Q[K][]> {
    const waiting = await this.peek(queue, { group, max: 10_000 });
    return waiting.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1)).map((message) => message.payload);
  }

  /** Runs a handler until nothing waits in the queue that is due, and says what came of it. */
  async work<K extends QueueName<Q>>(
    queue: K,
    handler: Handler<Q[K], Q>,
    options: Omit<WorkerOptions<Q[K], Q>, "onError"> = {},
  ): Promise<Worked<Q[K]>> {
    const worked: Worked<Q[K]> = { done: [], failed: [] };
    const group = options.group ?? "default";
    const counted: Handler<Q[K], Q> = async (message, context) => {
      await handler(message, context);
      worked.done.push(message);
    };
    const worker = this.worker(queue, counted, {
      maintain: false,
      ...options,
      onError: (error, message) => {
        if (message) worked.failed.push({ message, error });
      },
    });
    const running = worker.run();
    const idle = async () => {
      const stats = (await this.stats(queue)).find((s) => s.group === group);
      return !stats || stats.waiting + stats.claimed === 0;
    };
    try {
      while (!(await Promise.race([idle(), running.then(() => true)]))) await new Promise(setImmediate);
    } finally {
      await worker.stop();
    }
    await running;
    return worked;
  }
}

/** A database within the process, which is gone when it is closed. */
export class MemoryWeir<Q extends object = QueueMap> extends TestWeir<Q> {
  private offsetMs = 0;

  constructor(
    /** For the program's own tables and rows. */
    readonly lite: Lite,
    options: ClientOptions = {},
  ) {
    super(lite, options);
  }

  /** Lets time pass for the engine: what is delayed, leased or retried by then is due. */
  async advance(ms: number): Promise<void> {
    this.offsetMs += ms;
    await this.lite.query(sqlTravel, [String(this.offsetMs)]);
  }

  override async close(): Promise<void> {
    await this.lite.close();
  }
}

/**
 * Makes a database within the process, with the engine: no server is needed, only the package @electric-sql/pglite. It
 * has one connection, so what one transaction does another cannot see while it runs: it waits.
 */
export async function memory<Q extends object = QueueMap>(): Promise<MemoryWeir<Q>> {
  const { PGlite } = await import("@electric-sql/pglite");
  const lite = new PGlite();
  await lite.exec(await readFile(new URL("./engine.sql", import.meta.url), "utf8"));
  await lite.exec(sqlClock);
  return new MemoryWeir<Q>(lite);
}
