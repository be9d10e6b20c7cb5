/** What a worker logs of failures when nobody else is told. */

import { Reject, RetryAfter, WeirError, WorkerStopped } from "./errors.js";
import type { ClaimedMessage } from "./types.js";

/** Where this package lies: its frames are of no use to who looks for what failed in a handler. */
const here = import.meta.url.replace(/[^/]*$/, "");

/** Logs a handler that failed, and what becomes of its message, or a call that failed. */
export function logFailure(
  error: unknown,
  message: ClaimedMessage | undefined,
  queue: string,
  maxAttempts: number,
): void {
  if (!message) {
    console.warn(`weir: worker of queue ${queue}: ${described(error)}`);
    return;
  }
  const { id, attempt } = message;
  const dead = error instanceof Reject || (maxAttempts > 0 && attempt >= maxAttempts);
  const log = dead ? console.error : console.warn;
  const tries = `attempt ${attempt} of ${maxAttempts || "?"}`;
  const next = dead ? "is a dead letter" : `is delivered again ${whenOf(error)}`;
  log(`weir: message ${id} of queue ${queue}, ${tries}, failed and ${next}: ${described(error)}`);
}

function whenOf(error: unknown): string {
  if (error instanceof RetryAfter) return `in ${error.delayMs} ms`;
  return error instanceof WorkerStopped ? "at once" : "after the backoff of the group";
}

/** An error with those of its frames that are the program's. */
function described(error: unknown): string {
  if (error instanceof WeirError) return `${error.message} (${error.code} ${error.name})`;
  if (!(error instanceof Error)) return String(error);
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const own = frames.filter((line) => !line.includes(here) && !line.includes("node:internal"));
  return [String(error), ...own].join("\n");
}
