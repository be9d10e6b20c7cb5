/** Gathers what a worker has to tell the engine: one transaction for all that came up during the one before. */

import type { Claim, Held } from "./claims.js";
import type { Client } from "./client.js";
import { Code, WeirError } from "./errors.js";
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

/** Tells the engine what became of messages. */
export class Settler<T> {
  private acks = new Set<Claim<T>>();
  private returns: Task<T>[] = [];
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly client: Pick<Client, "settleAll">,
    private readonly at: GroupPath,
    private readonly onSettled: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The message is done. */
  ack(held: Held<T>): void {
    held.claim.done.push(held);
    this.acks.add(held.claim);
    this.flush();
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
    const item = { claimId: claim.id, ids: [message.id], reason: cut(reason), delayMs };
    this.returns.push({ kind, claim, messages: [held, ...followers], item });
    this.flush();
  }

  /** The messages go back unused. */
  release(messages: Held<T>[]): void {
    for (const claim of new Set(messages.map((held) => held.claim))) {
      claim.broken = true;
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
    this.flushing ??= this.run().finally(() => {
      this.flushing = undefined;
      if (this.acks.size + this.returns.length > 0) this.flush();
    });
  }

  private async run(): Promise<void> {
    await new Promise(setImmediate); // handlers that end in the same turn share a transaction
    while (this.acks.size + this.returns.length > 0) {
      const tasks = [...this.returns, ...[...this.acks].map(ackOf)].filter((task) => !task.claim.lost);
      this.returns = [];
      this.acks = new Set();
      // Acks first: a nack takes along what of its key is not acknowledged.
      for (const kind of ["ack", "nack", "reject", "release", "snooze"] as const) {
        const same = tasks.filter((task) => task.kind === kind);
        if (same.length > 0) await this.settle(kind, same);
      }
      this.onSettled();
    }
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
        else this.onError(error); // and again: until it passes, or the leases end
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
