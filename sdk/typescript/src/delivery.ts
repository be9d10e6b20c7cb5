import type { Client } from "./client.js";
import type { ClaimedMessage, Headers, NackOptions } from "./types.js";

/** A message that knows how to settle itself. */
export class Delivery<T = unknown> implements ClaimedMessage<T> {
  readonly queue: string;
  readonly group: string;
  readonly id: string;
  readonly claimId: string;
  readonly attempt: number;
  readonly key: string | null;
  readonly payload: T;
  declare readonly body?: Uint8Array;
  readonly headers: Headers | null;
  readonly enqueuedAt: Date;
  readonly #client: Client;

  constructor(client: Client, m: ClaimedMessage<T>) {
    this.queue = m.queue;
    this.group = m.group;
    this.id = m.id;
    this.claimId = m.claimId;
    this.attempt = m.attempt;
    this.key = m.key;
    this.payload = m.payload;
    if (m.body) this.body = m.body;
    this.headers = m.headers;
    this.enqueuedAt = m.enqueuedAt;
    this.#client = client;
  }

  /** Finishes the message; false when it was finished before. */
  async ack(): Promise<boolean> {
    return (await this.#client.ack(this.queue, this)) === 1;
  }

  /** Gives the message back, to be delivered again later; false when it was finished before. */
  async nack(options: NackOptions = {}): Promise<boolean> {
    return (await this.#client.nack(this.queue, this, options)) > 0;
  }

  /** Makes the message a dead letter now; false when it was finished before. */
  async reject(reason?: string): Promise<boolean> {
    return (await this.#client.reject(this.queue, this, { reason })) === 1;
  }

  /** Gives the message back unused: it is delivered again at once, and this delivery is not counted as an attempt. */
  async release(): Promise<boolean> {
    return (await this.#client.release(this.queue, this)) > 0;
  }

  /** Gives the message back for later; the attempt is not counted. */
  async snooze(delayMs: number): Promise<boolean> {
    return (await this.#client.snooze(this.queue, this, delayMs)) > 0;
  }

  /** Gives the message's claim, and with it the others that came with it, more time. */
  async extend(leaseMs: number): Promise<Date> {
    return this.#client.extend(this.queue, this, leaseMs);
  }
}
