/**
 * Gathers what a worker has to tell the engine: one transaction for all that came up during the one before, or within
 * the cooldown since its begin, unless somebody waits for it. At a low rate nothing waits, at a high rate the
 * transactions are large.
 */

import type { Claim, Held } from "./claims.js";
import type { Client } from "./client.js";
import { Code, WeirError } from "./errors.js";
import type { Cooldown } from "./pace.js";
import { backoff, pause } from "./retry.js";
import type { GroupPath, SettleKind, Settlement } from "./types.js";

/** What is to be done with messages of one claim. */
interface Task<T> {
  kind: SettleKind;
  claim: Claim<T>;
  messages: Held<T>[];
  item: Settlement;
}

/** Errors after which a claim can do nothing any more. */
const ends: string[] = [Code.claimNotFound, Code.claimExpired, Code.idsNotInClaim];

/** What a settler knows of its worker. */
export interface Owner {
  readonly cool: Cooldown;
  /** An ordered group; one with a concurrencyMax. */
  readonly ordered: boolean;
  readonly limited: boolean;
  /** Nobody is to be kept waiting: it stops, or has neither room for more messages nor work for its handlers. */
  readonly urgent: boolean;
  /** There is room for more messages. */
  readonly roomy: boolean;
  onSettled(): void;
  onError(error: unknown): void;
}

/** Tells the engine what became of messages. */
export class Settler<T> {
  private acks = new Set<Claim<T>>();
  private returns: Task<T>[] = [];
  private flushing: Promise<void> | undefined;
  private began = Number.NEGATIVE_INFINITY;
  private hurried = false;
  private wake = () => {};
  /** Acks wait so long for the rest of their claim. */
  private readonly partMs: number;

  constructor(
    private readonly client: Pick<Client, "settleAll">,
    private readonly at: GroupPath,
    private readonly owner: Owner,
  ) {
    this.partMs = owner.cool.timeMs;
  }

  /** The message is done. */
  ack(held: Held<T>): void {
    const { claim, message } = held;
    const { cool, ordered, limited } = this.owner;
    if (claim.done.length === 0) claim.since = performance.now();
    claim.done.push(held);
    this.acks.add(claim);
    // Others may wait for what becomes of it: those of its key, and all of a group with a limit.
    if (ordered || (!cool.on && (message.key !== null || limited))) {
      claim.since = Number.NEGATIVE_INFINITY;
      this.hurry();
    }
    this.flush();
  }

  /** Somebody waits for what there is to tell. */
  hurry(): void {
    this.hurried = true;
    this.wake();
  }

  /** The message, and the followers that the engine takes back with it, go back or to the dead letters. */
  giveBack(
    kind: "nack" | "reject" | "snooze",
    held: Held<T>,
    reason: string,
    delayMs?: number,
    followers: Held<T>[] = [],
  ): void {
    const { claim, message } = held;
    claim.broken = true;
    claim.since = Number.NEGATIVE_INFINITY;
    const item = { claimId: claim.id, ids: [message.id], reason: cut(reason), delayMs };
    this.returns.push({ kind, claim, messages: [held, ...followers], item });
    if (this.owner.ordered || !this.owner.cool.on) this.hurry();
    this.flush();
  }

  /** The messages go back unused. */
  release(messages: Held<T>[]): void {
    for (const claim of new Set(messages.map((held) => held.claim))) {
      claim.broken = true;
      claim.since = Number.NEGATIVE_INFINITY;
      const own = messages.filter((held) => held.claim === claim && !held.settled);
      const item = { claimId: claim.id, ids: own.map((held) => held.message.id) };
      if (own.length > 0) this.returns.push({ kind: "release", claim, messages: own, item });
    }
    this.flush();
  }

  /** Returns when nothing is left to be told. */
  async drained(): Promise<void> {
    while (this.flushing) await this.flushing;
  }

  private flush(): void {
    if (this.partsMs() <= 0) this.wake();
    this.flushing ??= this.run().finally(() => {
      this.flushing = undefined;
      if (this.acks.size + this.returns.length > 0) this.flush();
    });
  }

  private async run(): Promise<void> {
    await new Promise(setImmediate); // handlers that end in the same turn share a transaction
    while (this.acks.size + this.returns.length > 0) {
      // Else the next receive, or the stop, waits for this.
      const { cool, roomy } = this.owner;
      if (roomy) await this.wait(cool.timeMs - (performance.now() - this.began), () => false);
      await this.wait(this.partsMs(), () => this.partsMs() <= 0);
      this.began = performance.now();
      const acks = this.due().map(ackOf);
      const tasks = [...this.returns, ...acks].filter((task) => !task.claim.lost);
      this.returns = [];
      // Acks first: a nack takes along what of its key is not acknowledged.
      for (const kind of ["ack", "nack", "reject", "release", "snooze"] as const) {
        const same = tasks.filter((task) => task.kind === kind);
        if (same.length > 0) await this.settle(kind, same);
      }
      this.owner.onSettled();
    }
  }

  /** How long until something is due: a part of a claim waits a little for the rest, which one number acks with it. */
  private partsMs(): number {
    if (this.returns.length > 0 || this.owner.urgent) return 0;
    let first = Number.POSITIVE_INFINITY;
    for (const claim of this.acks)
      first = Math.min(first, claim.whole ? Number.NEGATIVE_INFINITY : claim.since);
    return first + this.partMs - performance.now();
  }

  /** Takes the claims that are to be acked now. */
  private due(): Claim<T>[] {
    const late = this.owner.urgent ? Number.POSITIVE_INFINITY : performance.now() - this.partMs;
    const due = [...this.acks].filter((claim) => claim.whole || claim.lost || claim.since <= late);
    for (const claim of due) this.acks.delete(claim);
    return due;
  }

  /** Waits, but no longer than until somebody hurries or something has come true. */
  private async wait(ms: number, over: () => boolean): Promise<void> {
    if (ms > 0 && !this.hurried && !over()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          if (!this.hurried && !over()) return;
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = () => {};
    }
    this.hurried = false;
  }

  /** Settles in one transaction, and each claim on its own when that fails because of one of them. */
  private async settle(kind: SettleKind, tasks: Task<T>[]): Promise<void> {
    for (let failed = 0; ;) {
      const live = tasks.filter((task) => !task.claim.lost);
      if (live.length === 0) return;
      for (const task of live) for (const held of task.messages) held.settling = "call";
      try {
        await this.client.settleAll(
          kind,
          this.at,
          live.map((task) => task.item),
        );
        for (const task of live) task.claim.settle(task.messages);
        return;
      } catch (error) {
        for (const task of live) task.claim.unsettled(task.messages);
        const ended = error instanceof WeirError && ends.includes(error.code);
        if (ended && live.length > 1) {
          for (const task of live) await this.settle(kind, [task]);
          return;
        }
        if (ended) live[0]?.claim.lose(error.message);
        else this.owner.onError(error); // and again: until it passes, or the leases end
      }
      await pause(backoff(++failed));
    }
  }
}

/** The ack of what is done of a claim: the whole of it, when nothing else is left and nothing was settled apart. */
function ackOf<T>(claim: Claim<T>): Task<T> {
  const messages = claim.done;
  claim.done = [];
  const whole = !claim.broken && messages.length === claim.held.size;
  claim.broken = true;
  return {
    kind: "ack",
    claim,
    messages,
    item: { claimId: claim.id, ids: whole ? undefined : messages.map((held) => held.message.id) },
  };
}

const reasonMax = 2_000;

/** The beginning of a reason, without what a text of PostgreSQL cannot hold. */
function cut(reason: string): string {
  return Buffer.from(reason.slice(0, reasonMax)).toString().replaceAll("\0", "");
}
