/** How a worker learns that its queue got messages. */

import type { PoolLike, Queryable, Row } from "./database.js";
import { rowsOf } from "./database.js";
import { backoff } from "./retry.js";

// LISTEN takes no parameters, so the channel goes through a setting of the session and is quoted by format.
const sqlMark = "select set_config('weir.channel', weir.mark_waiting($1::text), false) as channel";
const sqlListen = "do $$ begin execute format('listen %I', current_setting('weir.channel')); end $$";
const sqlBackend = "select pg_backend_pid() as pid";

/** How long a waiter waits at a time: briefly at first, then longer, so that an idle worker costs little. */
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
  private markedAt = Number.NEGATIVE_INFINITY;
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

  /** The worker got messages. */
  found(): void {
    this.stepMs = 0;
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
   * Returns when the worker should receive again. The first wait only takes a breath: where messages flow, the next
   * ones are there by then, and no send has to notify.
   */
  async wait(): Promise<void> {
    const breath = this.stepMs === 0;
    if (!breath && (await this.mark())) return; // a message may have come before the mark
    this.stepMs = breath ? stepMinMs : this.stepMs;
    await this.sleep(this.stepMs * (0.75 + Math.random() / 4));
    if (!breath) this.stepMs = Math.min(this.stepMs * 2, stepMaxMs);
  }

  private async sleep(ms: number): Promise<void> {
    if (this.stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Makes sure that the next send will notify; true when it was not so before. */
  private async mark(): Promise<boolean> {
    const now = performance.now();
    if (!this.pool || this.stopped || now < Math.max(this.retryAt, this.markedAt + stepMaxMs)) return false;
    try {
      this.client ??= await this.open(this.pool);
      if (!this.client) return false;
      const marked = Number.isFinite(this.markedAt);
      this.markedAt = now;
      await rowsOf(this.client, sqlMark, [this.queue]);
      this.failed = 0;
      return !marked;
    } catch {
      await this.drop();
      this.retryAt = now + backoff(++this.failed, reconnect);
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
      this.markedAt = Number.NEGATIVE_INFINITY;
      this.found();
      this.wake();
    });
    try {
      await client.connect();
      const [row] = (await rowsOf(client, sqlBackend, [])) as [Row];
      if (Number(row.pid) === client.processID) {
        await rowsOf(client, sqlMark, [this.queue]);
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
    this.markedAt = Number.NEGATIVE_INFINITY;
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
