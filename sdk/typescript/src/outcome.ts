/** What comes of a handler. */

import type { Held } from "./claims.js";
import { RetryAfter, WorkerStopped } from "./errors.js";

/** The outcome of a handler. */
export type Outcome = { error?: unknown; finished?: boolean };

/** Does what settles a message within its handler, and notes whether it did. */
export async function settledIn<T, R>(held: Held<T>, outcome: Outcome, settle: () => Promise<R>): Promise<R> {
  try {
    const result = await settle();
    outcome.finished = true;
    return result;
  } catch (error) {
    held.claim.unsettled([held]);
    throw error;
  }
}

/** Why a message goes back, in words for the dead letter. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** When a message comes again; undefined leaves it to the group's backoff. */
export function delayOf(error: unknown): number | undefined {
  if (error instanceof RetryAfter) return error.delayMs;
  return error instanceof WorkerStopped ? 0 : undefined;
}

/** Waits for a handler; false when it was told to end and has not within the grace. */
export async function settledBy(
  handling: Promise<void>,
  signal: AbortSignal,
  graceMs: number,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<boolean>((resolve) => {
    signal.addEventListener("abort", () => {
      timer = setTimeout(() => resolve(false), graceMs);
    });
  });
  try {
    return await Promise.race([handling.then(() => true), givenUp]);
  } finally {
    clearTimeout(timer);
  }
}
