/** What a worker takes, and what it gives its handlers. */

import type { Client } from "./client.js";
import type { Queryable } from "./database.js";
import type { ClaimedMessage, QueueMap } from "./types.js";

/** What a handler gets beside the message. */
export interface HandlerContext<Q extends object = QueueMap> {
  /** Aborted when the handler should end: its time is over, its claim was lost or the worker stops at once. */
  readonly signal: AbortSignal;
  /** The client that the worker was made of. */
  readonly client: Client<Q>;
  /**
   * Runs fn in a transaction that acks the message first: what fn writes through `db` and sends through `tx`, and the
   * ack, happen together or not at all. See exactlyOnce. Of a job the transaction ends by finishing it with what fn
   * returned.
   */
  finish<R>(fn: (tx: Client<Q>, db: Queryable) => Promise<R>): Promise<R>;
}

/** Works on one message. When it returns, the message is done; when it throws, the message is delivered again. */
export type Handler<T = unknown, Q extends object = QueueMap> = (
  message: ClaimedMessage<T>,
  context: HandlerContext<Q>,
) => unknown;

/** Wraps handlers; next runs what is inside. */
export type Middleware<T = unknown, Q extends object = QueueMap> = (
  message: ClaimedMessage<T>,
  context: HandlerContext<Q>,
  next: () => Promise<void>,
) => Promise<void>;

/** Options of a worker. */
export interface WorkerOptions<T = unknown, Q extends object = QueueMap> {
  /** `default` unless given. */
  group?: string | undefined;
  /** Handlers that run at once; 10 unless given. */
  concurrency?: number | undefined;
  /**
   * Messages held at most, those that run included: 1,000 unless given, or twice the concurrency where that is more.
   * A worker holds as many as its handlers work off in a tenth of a second, and twice its concurrency at least.
   */
  prefetch?: number | undefined;
  /**
   * The least time between the begins of two acks, unless other messages may wait for one, and of two receives while so
   * many messages come that each then gets sixteen and more; 5 unless given, 0 for none. An ordered group has none. In
   * any group an ack waits so long at most for the others of its claim.
   */
  cooldownMs?: number | undefined;
  /** How long a claim lasts, 30,000 unless given; it is renewed each third of it while its messages are held. */
  leaseMs?: number | undefined;
  /** How long a handler may take; past it the handler is told to end and the message nacked. No limit unless given. */
  timeoutMs?: number | undefined;
  /** How long a handler that was told to end may go on before the worker gives it up; 5,000 unless given. */
  graceMs?: number | undefined;
  /** How long a soft stop waits before it becomes a hard one; 30,000 unless given. */
  stopTimeoutMs?: number | undefined;
  /** Call weir.maintain() about once a second; true unless given. Over HTTP the server does. */
  maintain?: boolean | undefined;
  /** Wraps the handler, the first outermost. */
  middleware?: readonly Middleware<T, Q>[] | undefined;
  /** Messages are jobs, which can be cancelled; false unless given. `jobs.worker()` sets it. */
  jobs?: boolean | undefined;
  /** Told of handlers that failed, with the message, and of calls that failed. Writes to console.error unless given. */
  onError?: ((error: unknown, message?: ClaimedMessage<T>) => void) | undefined;
}

/** How a worker is. */
export interface WorkerHealth {
  state: "idle" | "running" | "stopping" | "stopped";
  /** It runs, and the last time it asked for messages it got an answer. */
  healthy: boolean;
  /** When it last got an answer. */
  receivedAt: Date | undefined;
  /** Messages that it holds, those included that run. */
  held: number;
  running: number;
  /** Whether a send wakes it. */
  listening: boolean;
  /** Handlers that did not end when they were told to, and were given up. */
  abandoned: number;
  /** Messages whose claim was lost. */
  lost: number;
  lastError: unknown;
}
