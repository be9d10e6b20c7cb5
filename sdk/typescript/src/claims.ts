/** What a worker holds: claims, and the messages of each that are not settled. */

import { ClaimLost } from "./errors.js";
import type { ClaimedMessage } from "./types.js";

/** A message in a worker's hands. */
export class Held<T> {
  /** Told to the handler when it should end; there once it has begun. */
  controller: AbortController | undefined;
  /** Nothing is left to do: it is acked, given back or lost. */
  settled = false;
  /** What is under way that settles it: a call, or the handler's own transaction. */
  settling: "call" | "transaction" | undefined;

  constructor(
    readonly message: ClaimedMessage<T>,
    readonly claim: Claim<T>,
  ) {}
}

/** A claim that a worker holds until all its messages are settled or its deadline has passed. */
export class Claim<T> {
  /** The messages that are not settled. */
  readonly held = new Set<Held<T>>();
  /** Messages that are done and not acked yet. */
  done: Held<T>[] = [];
  /** When it came, by performance.now. */
  readonly taken = performance.now();
  /** When the first of done came, by performance.now; -Infinity when other messages wait for one. */
  since = Number.NEGATIVE_INFINITY;
  /** Whether some were settled by their ids, so that what is left is not the whole. */
  broken = false;
  /** Somebody else may have the messages. */
  lost = false;
  /** A call is under way that renews it. */
  renewing = false;
  /** When the lease ends, by the clock of performance.now. It lies before the engine's, which counts from later. */
  deadline = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly id: string,
    private readonly onLost: (claim: Claim<T>, reason: ClaimLost) => void,
  ) {}

  /** Sets the deadline, at which the claim is lost. */
  holdUntil(deadline: number): void {
    this.deadline = deadline;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lose("its lease ended"), Math.max(deadline - performance.now(), 0));
  }

  /** Whether all that is left is being settled: what settles it, and no lease, tells what became of it. */
  get undecided(): boolean {
    return [...this.held].every((held) => held.settling);
  }

  /** Whether nothing is left of it but what is done. */
  get whole(): boolean {
    return this.done.length === this.held.size;
  }

  /** Whether it may be renewed: nobody else does, and no open transaction keeps it locked. */
  get renewable(): boolean {
    return !this.renewing && !this.undecided && ![...this.held].some((h) => h.settling === "transaction");
  }

  /** The claim is gone: handlers that run are told, nothing of it is settled any more. */
  lose(why: string): void {
    if (this.lost || this.undecided) return;
    this.lost = true;
    clearTimeout(this.timer);
    const reason = new ClaimLost(`claim ${this.id} is lost: ${why}`);
    for (const held of this.held) held.controller?.abort(reason);
    this.onLost(this, reason);
  }

  /** What was under way about messages has failed, and the lease counts again. */
  unsettled(messages: Iterable<Held<T>>): void {
    for (const held of messages) held.settling = undefined;
    if (performance.now() >= this.deadline) this.lose("its lease ended");
  }

  /** The engine knows what became of messages of this claim. */
  settle(messages: Iterable<Held<T>>): void {
    for (const held of messages) {
      held.settled = true;
      this.held.delete(held);
    }
    if (this.held.size === 0) clearTimeout(this.timer);
  }
}
