import { Claim, Held } from "./claims.js";
import type { Client } from "./client.js";
import type { PoolLike, Queryable } from "./database.js";
import { isPool, poolBeside } from "./database.js";
import {
  ClaimLost,
  HandlerTimeout,
  JobCancelled,
  Reject,
  Snooze,
  WeirError,
  WorkerStopped,
} from "./errors.js";
import { logFailure } from "./failures.js";
import { only } from "./known.js";
import { Waiter } from "./listener.js";
import { delayOf, type Outcome, reasonOf, settledBy, settledIn } from "./outcome.js";
import { Cooldown, Pace } from "./pace.js";
import { backoff, pause } from "./retry.js";
import { Settler } from "./settler.js";
import type { ClaimedMessage, GroupPath, QueueMap } from "./types.js";
import type { Handler, HandlerContext, WorkerHealth, WorkerOptions } from "./worker_options.js";

export type { Handler, HandlerContext, Middleware, WorkerHealth, WorkerOptions } from "./worker_options.js";

/** Between two calls of maintain that found nothing to do. */
const maintainMs = 1_000;
/** How long a message may wait for a handler before it is given back, where more is held than need be. */
const shedAfterMs = 1_000;
/** After an error that does not pass by itself. */
const stuckMs = 10_000;
/** How long a server waits for a message before it answers. */
const longPollMs = 20_000;
/** Connections of the worker's own: for receiving, settling, renewing and maintaining. */
const ownConnections = 4;

/** What a handler returns to have a result of its job kept. */
export class Finished {
  constructor(readonly result: unknown) {}
}

/** Handlers whose whole work is one transaction. */
const transactional = new WeakSet<object>();

/** Claims messages of one queue and group, and runs a handler for each, until it is stopped. */
export class Worker<T = unknown, Q extends object = QueueMap> {
  private readonly at: GroupPath;
  private readonly limits: { concurrency: number; leaseMs: number; graceMs: number };
  /** How old a lease is when it is renewed. */
  private readonly renewMs: number;
  private readonly claims = new Map<string, Claim<T>>();
  /** Lines of messages of which one runs at a time. */
  private readonly ready: Held<T>[][] = [];
  private readonly stopping = new AbortController();
  private readonly ended: Promise<void>;
  private state: WorkerHealth["state"] = "idle";
  private held = 0;
  private running = 0;
  private hard = false;
  private ordered = false;
  private limited = false;
  private maxAttempts = 0;
  private readonly pace: Pace;
  private readonly cool: Cooldown;
  private hurry = () => {};
  private wakeRoom = () => {};
  private markEnded = () => {};
  private stats = {
    abandoned: 0,
    lost: 0,
    lastError: undefined as unknown,
    receivedAt: undefined as Date | undefined,
  };
  private failedReceives = 0;
  private waiter: Waiter | undefined;

  constructor(
    private readonly client: Client<Q>,
    queue: string,
    private readonly handler: Handler<T, Q>,
    private readonly options: WorkerOptions<T, Q> = {},
  ) {
    only("worker", options);
    const { group = "default", concurrency = 10, prefetch = Math.max(1_000, 2 * concurrency) } = options;
    const { leaseMs = 30_000, graceMs = 5_000, cooldownMs = 5 } = options;
    for (const [name, value] of Object.entries({ concurrency, prefetch, leaseMs })) {
      if (!Number.isInteger(value) || value < 1)
        throw new RangeError(`${name} is ${value}, at least 1 is needed`);
    }
    if (!(cooldownMs >= 0)) throw new RangeError(`cooldownMs is ${cooldownMs}, at least 0 is needed`);
    this.at = { queue, group };
    this.pace = new Pace(concurrency, Math.max(prefetch, concurrency));
    this.cool = new Cooldown(cooldownMs, leaseMs);
    this.limits = { concurrency, leaseMs, graceMs };
    this.renewMs = leaseMs / 3;
    this.ended = new Promise((resolve) => {
      this.markEnded = resolve;
    });
  }

  /** How the worker is. */
  health(): WorkerHealth {
    return {
      state: this.state,
      healthy: this.state === "running" && this.stats.receivedAt !== undefined && this.failedReceives === 0,
      held: this.held,
      running: this.running,
      listening: this.waiter?.listening ?? false,
      ...this.stats,
    };
  }

  /** Works until stop. Fails only when the queue cannot be consumed from at the start, such as for want of a right. */
  async run(): Promise<void> {
    if (this.state !== "idle") throw new Error(`the worker is ${this.state}; make another to work again`);
    this.state = "running";
    const { db } = this.client;
    const pool = db && isPool(db) ? poolBeside(db, ownConnections) : undefined;
    const own = pool ? this.client.over(pool) : this.client;
    try {
      await this.work(own, pool);
    } finally {
      this.state = "stopped";
      await pool?.end();
      this.markEnded();
    }
  }

  /**
   * Stops the worker; returns when all it held is settled. Softly unless told otherwise: handlers that run may end, for
   * stopTimeoutMs at most; what has not begun is given back. A hard stop tells the handlers to end.
   */
  async stop(how: { hard?: boolean } = {}): Promise<void> {
    if (this.state === "idle" || this.state === "stopped") {
      this.state = "stopped";
      return;
    }
    this.state = "stopping";
    this.stopping.abort();
    this.waiter?.stop();
    this.wakeRoom();
    this.hurry();
    if (how.hard) this.stopHard();
    await this.ended;
  }

  private stopHard(): void {
    this.hard = true;
    const reason = new WorkerStopped("the worker was stopped");
    for (const claim of this.claims.values()) for (const held of claim.held) held.controller?.abort(reason);
  }

  private get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async work(own: Client<Q>, pool: PoolLike | undefined): Promise<void> {
    const settler = this.settler(own);
    const groups = await this.insist(() => own.listGroups(this.at.queue));
    const group = groups?.find((found) => found.group === this.at.group);
    this.ordered = group?.ordered ?? false;
    this.limited = (group?.concurrencyMax ?? 0) > 0;
    this.maxAttempts = group?.maxAttempts ?? 0;
    this.waiter = new Waiter(this.at.queue, pool);
    const renewing = setInterval(() => {
      this.shed(settler);
      this.renew(own);
    }, this.renewMs / 2);
    const maintaining = this.options.maintain === false || !own.db ? undefined : this.maintain(own);
    try {
      await this.receive(own, settler);
      await this.windUp(settler);
    } finally {
      this.stopping.abort();
      clearInterval(renewing);
      await Promise.all([maintaining, this.waiter.close()]);
    }
  }

  /** What tells the engine what became of messages. */
  private settler(own: Client<Q>): Settler<T> {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the getters are of another object
    const worker = this;
    const settler = new Settler<T>(own as unknown as Client, this.at, {
      cool: this.cool,
      get ordered() {
        return worker.ordered;
      },
      get limited() {
        return worker.limited;
      },
      get urgent() {
        return worker.stopped || (worker.idle && worker.room() === 0);
      },
      get roomy() {
        return !worker.stopped && worker.room() > 0;
      },
      onSettled: () => worker.forgetSettled(),
      onError: (error) => worker.report(error),
    });
    this.hurry = () => settler.hurry();
    return settler;
  }

  /** Makes a call until it succeeds or the worker stops; an error that does not pass by itself is thrown. */
  private async insist<R>(call: () => Promise<R>): Promise<R | undefined> {
    for (let failed = 1; !this.stopped; failed++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof WeirError) || !error.retryable) throw error;
        this.report(error);
        await pause(backoff(failed), this.stopping.signal);
      }
    }
    return undefined;
  }

  /** Claims messages while there is room for them. */
  private async receive(own: Client<Q>, settler: Settler<T>): Promise<void> {
    let first = true;
    while (!this.stopped) {
      const max = this.room();
      if (max === 0) {
        this.hurry();
        await new Promise<void>((resolve) => {
          this.wakeRoom = resolve;
        });
        continue;
      }
      // One message is had sooner than as many as there are.
      const lone = !this.ordered && this.waiter?.told;
      const before = performance.now();
      const got = await this.receiveOnce(own, lone ? 1 : max, first);
      first &&= got === undefined;
      if (got === undefined) continue;
      // Else it tells nothing of how quick the handlers are.
      if (!lone && this.held < this.pace.now) this.pace.fetched(got.full);
      this.cool.fetched(before, got.messages.length, got.full);
      if (got.messages.length > 0) {
        this.accept(got.messages, got.until, settler);
        // It marks the queue then, so that the next receive sees whether that was all.
        if (this.waiter?.found()) await this.waiter.wait();
        const leftMs = got.full ? 0 : this.cool.leftMs(performance.now() - before);
        if (leftMs > 0) await pause(leftMs, this.stopping.signal);
      } else if (own.db) await this.waiter?.wait();
    }
  }

  /** Claims messages; undefined after an error. */
  private async receiveOnce(own: Client<Q>, max: number, first: boolean) {
    const { leaseMs } = this.limits;
    // Within its transaction a handler holds its claim, and nobody can renew it: one message each, then.
    const most = transactional.has(this.handler) ? 1 : max;
    const waitMs = own.db ? 0 : longPollMs;
    const { signal } = this.stopping;
    const before = performance.now();
    try {
      const messages = await own.receive(this.at.queue as never, {
        group: this.at.group,
        max: most,
        leaseMs,
        waitMs,
        signal,
      });
      this.failedReceives = 0;
      this.stats.receivedAt = new Date();
      // A server that waited claimed at an unknown time, and its answer was under way for a while.
      const until = own.db ? before + leaseMs : performance.now() + 0.9 * leaseMs;
      return { messages: messages as unknown as ClaimedMessage<T>[], until, full: messages.length === most };
    } catch (error) {
      const passes = error instanceof WeirError && error.retryable;
      if (first && !passes) throw error;
      this.report(error);
      await pause(passes ? backoff(++this.failedReceives) : stuckMs, signal);
      return undefined;
    }
  }

  /** How many messages to ask for: as many as fit, once that is worth a call or a handler is without work. */
  private room(): number {
    const free = Math.min(this.pace.now - this.held, this.pace.claimMax);
    const { idle } = this;
    // What is held may stand in line behind others: handlers without work take other keys.
    if (idle && this.ordered) return Math.max(free, this.limits.concurrency - this.running);
    return idle || free >= this.pace.now / 4 ? Math.max(free, 0) : 0;
  }

  /** Whether handlers are without work. */
  private get idle(): boolean {
    return this.running < this.limits.concurrency && this.ready.length === 0;
  }

  /** Takes messages in and runs what can run. */
  private accept(messages: ClaimedMessage<T>[], until: number, settler: Settler<T>): void {
    const lines = new Map<string, Held<T>[]>();
    for (const message of messages) {
      const held = new Held<T>(message, this.claimOf(message, until));
      held.claim.held.add(held);
      this.held++;
      const name = this.ordered
        ? `${message.claimId} ${message.key === null ? "" : `=${message.key}`}`
        : message.id;
      const line = lines.get(name);
      if (line) line.push(held);
      else lines.set(name, [held]);
    }
    this.ready.push(...lines.values());
    this.pump(settler);
  }

  private claimOf(message: ClaimedMessage<T>, until: number): Claim<T> {
    const known = this.claims.get(message.claimId);
    if (known) return known;
    const claim = new Claim<T>(message.claimId, (lost, reason) => this.drop(lost, reason));
    claim.holdUntil(until);
    this.claims.set(claim.id, claim);
    return claim;
  }

  /** Forgets a lost claim; handlers that run are still counted as running. */
  private drop(claim: Claim<T>, reason: ClaimLost): void {
    this.stats.lost += claim.held.size;
    claim.settle(claim.held);
    this.report(reason);
    this.forgetSettled();
  }

  /** Counts anew what is held, and asks for more. */
  private forgetSettled(): void {
    let held = 0;
    for (const claim of this.claims.values()) {
      if (claim.held.size === 0) this.claims.delete(claim.id);
      held += claim.held.size;
    }
    this.held = held;
    if (this.room() > 0) this.wakeRoom();
  }

  /** Starts handlers while there are lines and free places. */
  private pump(settler: Settler<T>): void {
    while (this.running < this.limits.concurrency && !this.stopped) {
      const line = this.ready.shift();
      if (!line) break;
      this.running++;
      void this.runLine(line, settler).finally(() => {
        this.running--;
        this.pump(settler);
        if (this.room() > 0) this.wakeRoom();
      });
    }
  }

  /** Runs the messages of a line one after the other; what is behind one that failed goes back with it. */
  private async runLine(line: Held<T>[], settler: Settler<T>): Promise<void> {
    for (const [i, held] of line.entries()) {
      if (held.settled) continue;
      if (this.stopped && i > 0) {
        settler.release(line.slice(i));
        return;
      }
      const began = performance.now();
      this.pace.began(began - held.claim.taken);
      const { error, finished } = await this.runOne(held);
      this.pace.did(performance.now() - began);
      if (held.settled || held.claim.lost) continue;
      if (finished) this.settledApart(held);
      else if (error === undefined) settler.ack(held);
      else if (error instanceof Reject) settler.giveBack("reject", held, error.message);
      else if (error instanceof JobCancelled) settler.giveBack("reject", held, "cancelled");
      else if (error instanceof Snooze) {
        settler.giveBack("snooze", held, error.message, error.delayMs, line.slice(i + 1));
        return;
      } else {
        settler.giveBack("nack", held, reasonOf(error), delayOf(error), line.slice(i + 1));
        return;
      }
    }
  }

  /** The transaction of the handler has acked the message. */
  private settledApart(held: Held<T>): void {
    held.claim.broken = true;
    held.claim.settle([held]);
    this.forgetSettled();
  }

  /** Runs the handler for one message, and tells it to end when its time is over. */
  private async runOne(held: Held<T>): Promise<Outcome> {
    const controller = new AbortController();
    held.controller = controller;
    const { timeoutMs } = this.options;
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            () => controller.abort(new HandlerTimeout(`not done within ${timeoutMs} ms`)),
            timeoutMs,
          );
    const outcome: Outcome = {};
    const handling = this.handle(held, controller.signal, outcome).catch((error) => {
      outcome.error = error ?? new Error("the handler threw nothing");
    });
    const ended = await settledBy(handling, controller.signal, this.limits.graceMs);
    clearTimeout(timer);
    held.controller = undefined;
    if (!ended) this.stats.abandoned++;
    const { reason } = controller.signal;
    const result: Outcome = ended ? outcome : { error: reason };
    if (result.error !== undefined && reason instanceof JobCancelled) return { error: reason };
    if (result.error !== undefined && !(result.error instanceof Snooze))
      this.report(result.error, held.message);
    return result;
  }

  /** Calls the handler through the middleware. */
  private async handle(held: Held<T>, signal: AbortSignal, outcome: Outcome): Promise<void> {
    const { message } = held;
    const context: HandlerContext<Q> = {
      signal,
      client: this.client,
      finish: async (fn) => {
        const { queue, id } = message;
        const once = (n: number) => {
          if (n === 0 && this.client.db) throw new ClaimLost(`message ${id} was finished before`);
        };
        const work = async (tx: Client<Q>, db: Queryable) => {
          if (!this.options.jobs) {
            // Over HTTP it is acked at the end only, and renewed until then.
            if (this.client.db) held.settling = "transaction";
            once(await tx.ack(queue, message));
          }
          const value = await fn(tx, db);
          held.settling = "transaction";
          if (this.options.jobs) once(await tx.finish(queue, message, value));
          return value;
        };
        return settledIn(held, outcome, () => this.client.transaction(work));
      },
    };
    const wraps = this.options.middleware ?? [];
    let value: unknown;
    const at = async (i: number): Promise<void> => {
      const wrap = wraps[i];
      if (wrap) await wrap(message, context, () => at(i + 1));
      else value = await this.handler(message, context);
    };
    const { hooks } = this.client;
    if (hooks) await hooks.processing(message, () => at(0));
    else await at(0);
    if (value instanceof Finished && !outcome.finished) {
      const { result } = value;
      held.settling = "call";
      await settledIn(held, outcome, () => this.client.finish(message.queue, message, result));
    }
  }

  /** Gives back what was claimed when handlers were quicker than they are: another worker would do it sooner. */
  private shed(settler: Settler<T>): void {
    const late = performance.now() - shedAfterMs;
    if (!this.ready.some(([first]) => first && first.claim.taken < late)) return;
    const held = this.ordered ? this.ready.length + this.running : this.held;
    settler.release(this.ready.splice(0, this.pace.slowed(held)).flat());
  }

  /** Gives every claim whose lease is old enough another one. */
  private renew(own: Client<Q>): void {
    const late = performance.now() + this.limits.leaseMs - this.renewMs;
    for (const claim of this.claims.values())
      if (claim.deadline < late && claim.renewable) void this.renewOne(own, claim);
    if (this.options.jobs && this.claims.size > 0)
      this.tellCancelled(own).catch((error) => this.report(error));
  }

  /** Tells the handlers of jobs that were cancelled. */
  private async tellCancelled(own: Client<Q>): Promise<void> {
    const ids = new Set(await own.cancelled(this.at.queue, [...this.claims.keys()]));
    if (ids.size === 0) return;
    for (const claim of this.claims.values())
      for (const held of claim.held)
        if (ids.has(held.message.id)) held.controller?.abort(new JobCancelled("the job was cancelled"));
  }

  private async renewOne(own: Client<Q>, claim: Claim<T>): Promise<void> {
    const { leaseMs } = this.limits;
    const [held] = claim.held;
    if (!held) return;
    const before = performance.now();
    claim.renewing = true;
    try {
      await own.extend(this.at.queue, held.message, leaseMs);
      if (claim.held.size > 0) claim.holdUntil(before + leaseMs);
    } catch (error) {
      if (error instanceof WeirError && !error.retryable) claim.lose(error.message);
      else this.report(error); // and again at the next third, or the lease ends
    } finally {
      claim.renewing = false;
    }
  }

  /** Gives space back, about once a second, and at once while there is something to do. */
  private async maintain(own: Client<Q>): Promise<void> {
    const { signal } = this.stopping;
    for (let failed = 0, everyMs = maintainMs / 2; !this.stopped;) {
      try {
        const steps = await own.maintain(everyMs);
        failed = 0;
        everyMs = steps > 0 ? 0 : maintainMs / 2;
        if (steps > 0) continue;
      } catch (error) {
        this.report(error);
        failed++;
      }
      await pause(failed > 0 ? stuckMs : maintainMs * (0.5 + Math.random()), signal);
    }
  }

  /** Ends what is held: gives back what has not begun, lets handlers end, and tells the engine. */
  private async windUp(settler: Settler<T>): Promise<void> {
    settler.release(this.ready.splice(0).flat());
    const patience = setTimeout(() => this.stopHard(), this.options.stopTimeoutMs ?? 30_000);
    if (this.hard) this.stopHard();
    while (this.running > 0 || this.held > 0) {
      await settler.drained();
      if (this.running === 0 && this.held === 0) break;
      await new Promise<void>((resolve) => {
        this.wakeRoom = resolve;
      });
    }
    clearTimeout(patience);
  }

  private report(error: unknown, message?: ClaimedMessage<T>): void {
    this.stats.lastError = error;
    const log = () => logFailure(error, message, this.at.queue, this.maxAttempts);
    try {
      (this.options.onError ?? log)(error, message);
    } catch (failure) {
      console.error("weir worker: onError failed:", failure);
    }
  }
}

/**
 * Makes a handler whose effects in the database happen exactly once: what it writes through `db` and sends through
 * `tx`, and the ack of its message, are one transaction. Over HTTP `tx` can send, and there is no `db`.
 */
export function exactlyOnce<T, Q extends object = QueueMap>(
  handler: (
    message: ClaimedMessage<T>,
    context: HandlerContext<Q> & { tx: Client<Q>; db: Queryable },
  ) => Promise<unknown>,
): Handler<T, Q> {
  const whole: Handler<T, Q> = (message, context) =>
    context.finish((tx, db) => handler(message, { ...context, tx, db }));
  transactional.add(whole);
  return whole;
}
