/** How a worker learns that its queue got messages. */

import type { PoolLike, Queryable, Row } from "./database.js";
import { rowsOf } from "./database.js";
import { backoff } from "./retry.js";

// LISTEN takes no parameters, so the channel goes through a setting of the session and is quoted by format.
const sqlMark = "select set_config('weir.channel', weir.mark_waiting($1::text), false) as channel";
const sqlListen = "do $$ begin execute format('listen %I', current_setting('weir.channel')); end $$";
const sqlQuiet = "select pg_snapshot_xmin(s) = pg_snapshot_xmax(s) as quiet from pg_current_snapshot() s";
const sqlBackend = "select pg_backend_pid() as pid";

/** How long a waiter waits at a time: at first a breath, by when the next messages are there where they flow. */
const stepMinMs = 2;
const stepMaxMs = 250;
/** How long the next attempt to connect is put off. */
const reconnect = { delayMinMs: 1_000, delayMaxMs: 30_000 };
/** How long a statement of the listening connection may take, before the connection is given up. */
const statementMs = 5_000;

/** The Client of pg, as far as it matters here. */
interface ListenClient extends Queryable {
  connect(): Promise<void>;
  end(): Promise<void>;
  on(event: "notification" | "end" | "error", listener: () => void): unknown;
  readonly processID?: number | null;
}

/**
 * One worker's waiting for messages. The worker receives, and when it got nothing it calls wait and receives again,
 * whatever the reason; when it got something it calls found.
 *
 * Given a pool, it listens on a connection of its own, and the first send that finds the queue marked wakes it. A
 * notification may be missed, so it looks again in steps anyway; these alone are left while the connection cannot be
 * had, or when a pooler stands between.
 */
export class Waiter {
  private stepMs = 0; // 0 before the first wait since something was found
  private marked = false; // the next send notifies, and is heard
  private woken = false; // it has notified since
  private rare = false; // a notification told of what was found last: messages come one by one
  private wake = () => {};
  private stopped = false;
  private client: ListenClient | undefined;
  private failed = 0;
  private retryAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly queue: string,
    private readonly pool: PoolLike | undefined,
  ) {}

  /** Whether a send wakes the worker. */
  get listening(): boolean {
    return this.client !== undefined;
  }

  /** Whether the last wait ended with a notification: most likely one message is there. */
  get told(): boolean {
    return this.rare && this.stepMs === 0 && !this.marked;
  }

  /** The worker got messages; true where they come one by one: who then waits at once marks the queue. */
  found(): boolean {
    this.rare = this.told;
    this.stepMs = 0;
    this.marked = false;
    return this.rare;
  }

  /** Ends the wait; those that come do not wait any more. */
  stop(): void {
    this.stopped = true;
    this.wake();
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.stop();
    await this.drop();
  }

  /**
   * Returns when the worker should receive again. Where messages flow, the first wait is only a breath, so that nobody
   * marks the queue and no send notifies. Then the queue is marked, and the wait returns at once, for a message may
   * have come before the mark. From then on it waits to be told, in steps that grow: a send that was under way when the
   * mark was set may not have seen it. Once nobody is writing, there is no such send any more.
   */
  async wait(): Promise<void> {
    if (this.stepMs === 0 && !this.rare) {
      this.stepMs = stepMinMs;
      await this.sleep();
      return;
    }
    if (!this.marked) {
      this.stepMs = Math.max(this.stepMs, stepMinMs);
      if (await this.mark()) {
        this.stepMs = stepMinMs;
        return;
      }
    }
    await this.sleep();
    if (this.marked && this.woken) {
      // Where another is quicker it begins anew, for the mark is gone.
      this.stepMs = 0;
      this.marked = false;
      this.rare = true;
      return;
    }
    this.stepMs = Math.min(2 * this.stepMs, stepMaxMs);
    if (!this.marked) return;
    if (this.stepMs === stepMaxMs)
      await this.mark(); // a send that was rolled back may have taken the mark
    else if (await this.quiet()) this.stepMs = stepMaxMs;
  }

  /** Waits for a step, or less when it is woken. */
  private async sleep(): Promise<void> {
    if (this.stopped || (this.marked && this.woken)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.stepMs * (0.75 + Math.random() / 4));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Has the next send notify; false when nobody would hear it. */
  private async mark(): Promise<boolean> {
    this.marked = false;
    if (!this.pool || this.stopped || performance.now() < this.retryAt) return false;
    try {
      this.client ??= await this.open(this.pool);
      if (!this.client) return false;
      this.woken = false;
      await rowsOf(this.client, sqlMark, [this.queue]);
      this.failed = 0;
      this.marked = this.client !== undefined;
    } catch {
      await this.drop();
      this.retryAt = performance.now() + backoff(++this.failed, reconnect);
    }
    return this.marked;
  }

  /**
   * Whether nobody in the cluster is writing. Then whoever sends from now on sees a mark that stands, and what was sent
   * before it is there to be received.
   */
  private async quiet(): Promise<boolean> {
    try {
      const [row] = this.client ? await rowsOf(this.client, sqlQuiet, []) : [];
      return row?.quiet === true;
    } catch {
      await this.drop();
      return false;
    }
  }

  /** Connects and listens; undefined behind a pooler, which makes up the process ids that it gives its clients. */
  private async open(pool: PoolLike): Promise<ListenClient | undefined> {
    const client = listenClient(pool);
    const gone = () => {
      if (this.client === client) void this.drop();
    };
    client.on("error", gone);
    client.on("end", gone);
    client.on("notification", () => {
      this.woken = true;
      this.wake();
    });
    try {
      await client.connect();
      const [row] = (await rowsOf(client, sqlBackend, [])) as [Row];
      if (Number(row.pid) === client.processID) {
        await rowsOf(client, sqlMark, [this.queue]); // for the channel's name
        await rowsOf(client, sqlListen, []);
        return client;
      }
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    await client.end();
    this.retryAt = Number.POSITIVE_INFINITY;
    return undefined;
  }

  private async drop(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    this.marked = false;
    await client?.end().catch(() => {});
  }
}

/** A connection as the pool makes them, kept alive, whose statements do not wait for ever. */
function listenClient(pool: PoolLike): ListenClient {
  const options = pool.options as Record<string, unknown>;
  const { Client } = pool as unknown as { Client: new (options: object) => ListenClient };
  return new Client({
    ...options,
    password: options.password,
    keepAlive: true,
    query_timeout: statementMs,
    connectionTimeoutMillis: statementMs,
  });
}
