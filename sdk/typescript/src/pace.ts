/** How many messages a worker holds, and how much time it leaves between its calls. */

/** How long messages shall wait in a worker for a handler, at most. */
const waitMaxMs = 100;
/** So many messages are many: a claim of them costs little more than one of a few. */
const many = 1_000;
/** Messages that come during a cooldown: then a fetch for all of them saves that many. */
const worth = 16;
const windowMs = 200;
const offMax = 64; // windows
/** How much shorter than a lease a cooldown is at least, so that no ack is late. */
const leaseParts = 200;

/**
 * Decides how many messages a worker holds: as many as its handlers work off in waitMaxMs, so that few calls serve
 * quick handlers, and no message waits here for slow ones that another worker could begin with.
 */
export class Pace {
  /** Between least and most. */
  now: number;
  private readonly least: number;
  private tookMs = 0; // a handler, by and by
  private ended = 0; // handlers, since the last fetch
  private sumMs = 0; // that they took
  private waitMs = 0; // the longest from a claim to the begin of a handler, since the last fetch

  constructor(
    private readonly concurrency: number,
    private readonly most: number,
  ) {
    this.least = Math.min(2 * concurrency, most);
    this.now = this.least;
  }

  /** How many messages a fetch asks for at most: half of many, so that handlers have the other half meanwhile. */
  get claimMax(): number {
    return this.now >= many ? Math.floor(this.now / 2) : this.now;
  }

  /** Sees a handler begin with a message that was claimed so long ago. */
  began(waitMs: number): void {
    this.waitMs = Math.max(this.waitMs, waitMs);
  }

  /** Sees a handler end that took so long. */
  did(tookMs: number): void {
    this.ended++;
    this.sumMs += tookMs;
  }

  /**
   * Sees a fetch. One that got all it asked for doubles the number, if handlers have ended since the one before. A
   * message that had waited too long lowers it, and so do slow handlers.
   */
  fetched(full: boolean): void {
    if (this.ended > 0) {
      const tookMs = this.sumMs / this.ended;
      this.tookMs = Math.max(this.tookMs > 0 ? (this.tookMs + tookMs) / 2 : tookMs, 1e-6);
      const most = Math.floor((this.concurrency * waitMaxMs) / this.tookMs);
      this.now = Math.min(this.now * (full ? 2 : 1), most);
    }
    if (this.waitMs > waitMaxMs) this.now = Math.floor((this.now * waitMaxMs) / this.waitMs);
    this.now = Math.min(Math.max(this.now, this.least), this.most);
    this.waitMs = this.ended = this.sumMs = 0;
  }

  /** Sees a message wait for much too long; how many of those held are too many. */
  slowed(held: number): number {
    this.now = this.least;
    return Math.max(held - this.least, 0);
  }
}

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
