/** How much time a worker leaves between its calls. */

/** Messages that come during a cooldown: then a fetch for all of them saves that many. */
const worth = 16;
const windowMs = 200;
const offMax = 64; // windows
/** How much shorter than a lease a cooldown is at least, so that no ack is late. */
const leaseParts = 200;

/**
 * Decides whether a worker leaves some time between two fetches: only while so many messages come that they would keep
 * it busy one by one. Where the next messages come only once these are done, as of jobs that send others, time between
 * fetches makes fewer come. So it looks whether they do, window by window.
 */
export class Cooldown {
  on = false;
  /** Between the begins of two fetches; 0: never any. */
  readonly timeMs: number;
  private since: number | undefined; // begin of the window
  private messages = 0; // in the window
  private usual = 0; // messages a second in the window before it was switched on
  private off = 0; // windows to come in which it stays off
  private offNext = 1; // so many the next time that it made fewer messages come

  constructor(timeMs: number, leaseMs: number) {
    this.timeMs = Math.min(timeMs, leaseMs / leaseParts);
  }

  /** How long to wait for the begin of a fetch after one that began so long ago. */
  leftMs(agoMs: number): number {
    return this.on ? Math.max(this.timeMs - agoMs, 0) : 0;
  }

  /** Sees a fetch. A full one tells how quick the worker is, not how many messages come. */
  fetched(nowMs: number, messages: number, full: boolean): void {
    if (full || this.since === undefined) {
      this.since = nowMs;
      this.messages = 0;
      return;
    }
    this.messages += messages;
    const lengthMs = nowMs - this.since;
    if (lengthMs < windowMs) return;
    this.judge((this.messages * 1000) / lengthMs);
    this.since = nowMs;
    this.messages = 0;
  }

  /** Sees a window in which so many messages came a second. */
  private judge(rate: number): void {
    if (this.on && rate < (this.usual * 2) / 3) {
      this.on = false;
      this.off = this.offNext;
      this.offNext = Math.min(2 * this.offNext, offMax);
    } else if (this.on) this.offNext = 1;
    else if (this.off > 0) this.off--;
    else if ((rate * this.timeMs) / 1000 >= worth) {
      this.on = true;
      this.usual = rate;
    }
  }
}
