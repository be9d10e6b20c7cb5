import { WeirError } from "./errors.js";

/** How often and after which delays a call is tried again. Delays double, each shortened by chance up to a half. */
export interface RetryOptions {
  /** Further attempts after the first; 4 unless given, 0 for none. */
  retries?: number | undefined;
  /** 100 unless given. */
  delayMinMs?: number | undefined;
  /** 10,000 unless given. */
  delayMaxMs?: number | undefined;
}

/** The delay before the attempt after `failed` failed ones. */
export function backoff(failed: number, options: RetryOptions = {}): number {
  const { delayMinMs = 100, delayMaxMs = 10_000 } = options;
  const delay = Math.min(delayMinMs * 2 ** Math.min(failed - 1, 20), delayMaxMs);
  return delay * (0.5 + Math.random() / 2);
}

/**
 * Makes a call, and again after errors that may pass. When the outcome is unknown it is made again only if it is
 * repeatable, that is, if doing it twice does no harm.
 */
export async function retry<R>(
  options: RetryOptions,
  repeatable: boolean,
  call: () => Promise<R>,
): Promise<R> {
  for (let failed = 1; ; failed++) {
    try {
      return await call();
    } catch (error) {
      const again = error instanceof WeirError && error.retryable && (repeatable || !error.outcomeUnknown);
      if (!again || failed > (options.retries ?? 4)) throw error;
    }
    await pause(backoff(failed, options));
  }
}

/** Waits; returns early when the signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

/** Does something whose caller waits until the signal is aborted at most. */
export async function abortable<R>(signal: AbortSignal | undefined, work: () => Promise<R>): Promise<R> {
  if (!signal) return work();
  signal.throwIfAborted();
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
  });
  try {
    return await Promise.race([work(), left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
