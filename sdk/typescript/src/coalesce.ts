/** Concurrent calls that share statements. */

import { copyOf, WeirError } from "./errors.js";

/** What is put into one call at most, unless a single caller has more. */
const itemsMax = 1_000;
const bytesMax = 1 << 20;

/** One caller's part of a call. */
interface Part<I> {
  readonly items: readonly I[];
  readonly bytes: number;
  /** Takes the ids; undefined: the items are to be sent alone. */
  resolve(ids?: string[]): void;
  reject(error: unknown): void;
}

/**
 * Puts items that have the same aim into common calls, one at a time: what comes while a call is under way goes out
 * together with the next. Two calls at a time would be twice as many, of half as much. What one caller sends at once is
 * never parted.
 */
export class Coalescer<A extends object, I> {
  /** There while a call is under way: what waits for the next, in its order. */
  private readonly lines = new Map<string, Set<Part<I>>>();

  constructor(private readonly call: (to: A, items: readonly I[]) => Promise<string[]>) {}

  /**
   * Sends items of about so many bytes, all or none, and returns their ids. When the signal is aborted first, they are
   * not sent unless their call had begun.
   */
  async send(to: A, items: readonly I[], bytes: number, signal?: AbortSignal): Promise<string[]> {
    signal?.throwIfAborted();
    if (items.length >= itemsMax || bytes >= bytesMax) return this.call(to, items);
    const name = JSON.stringify(to);
    const line = this.lines.get(name);
    if (!line) {
      this.lines.set(name, new Set());
      try {
        return await this.call(to, items);
      } finally {
        void this.run(name, to);
      }
    }
    const ids = await wait(line, items, bytes, signal);
    return ids ?? this.call(to, items);
  }

  /** Makes calls for a line until nobody waits in it. */
  private async run(name: string, to: A): Promise<void> {
    const line = this.lines.get(name) as Set<Part<I>>;
    for (;;) {
      await new Promise(setImmediate); // those who were just answered may be about to send more
      if (line.size === 0) break;
      await this.share(to, take(line));
    }
    this.lines.delete(name);
  }

  /** Makes one call for several callers and tells them what became of it. */
  private async share(to: A, batch: readonly Part<I>[]): Promise<void> {
    const items = batch.flatMap((part) => part.items);
    let ids: string[];
    try {
      ids = await this.call(to, items);
    } catch (error) {
      const apart = batch.length > 1 && refused(error);
      for (const part of batch) {
        if (apart) part.resolve();
        else part.reject(copyOf(error));
      }
      return;
    }
    if (ids.length !== items.length) {
      // They were sent, so none may be sent again.
      for (const part of batch) part.reject(new Error(`${ids.length} ids came for ${items.length} messages`));
      return;
    }
    for (const part of batch) part.resolve(ids.splice(0, part.items.length));
  }
}

/** Waits in a line for an answer, or until the signal is aborted. */
async function wait<I>(
  line: Set<Part<I>>,
  items: readonly I[],
  bytes: number,
  signal: AbortSignal | undefined,
): Promise<string[] | undefined> {
  let leave = () => {};
  try {
    return await new Promise((resolve, reject) => {
      const part = { items, bytes, resolve, reject };
      leave = () => {
        line.delete(part);
        reject(signal?.reason);
      };
      line.add(part);
      signal?.addEventListener("abort", leave);
    });
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** Takes what goes into the next call out of a line. */
function take<I>(line: Set<Part<I>>): Part<I>[] {
  const batch: Part<I>[] = [];
  let [items, bytes] = [0, 0];
  for (const part of line) {
    items += part.items.length;
    bytes += part.bytes;
    if (batch.length > 0 && (items > itemsMax || bytes > bytesMax)) break;
    batch.push(part);
    line.delete(part);
  }
  return batch;
}

/** Whether nothing was done, and because of what was in the call. */
function refused(error: unknown): boolean {
  return !(error instanceof WeirError) || (!error.outcomeUnknown && !error.code.startsWith("08"));
}
