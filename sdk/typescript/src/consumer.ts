import type { Client } from "./client.js";
import { only } from "./known.js";
import type { ClaimedMessage, Headers, NackOptions, ReceiveOptions } from "./types.js";

/** Options of a consumer: what each of its receives asks for. */
export type ConsumerOptions = ReceiveOptions;

/** How long an iteration waits at a time for a first message. */
const waitMs = 20_000;

/** Receives from one queue and group. */
export class Consumer<T = unknown> {
  constructor(
    private readonly client: Client,
    readonly queue: string,
    private readonly options: ConsumerOptions = {},
  ) {
    only("receive", options);
  }

  /** Claims messages. */
  async receive(): Promise<Delivery<T>[]> {
    const got = await this.client.receive(this.queue, this.options);
    return got.map((message) => new Delivery<T>(this.client, message as ClaimedMessage<T>));
  }

  /** Claims messages without end, or until the signal of the options is aborted. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Delivery<T>, void, undefined> {
    const options = { waitMs, ...this.options };
    while (!this.options.signal?.aborted) {
      for (const message of await this.client.receive(this.queue, options)) {
        yield new Delivery<T>(this.client, message as ClaimedMessage<T>);
      }
    }
  }
}

/** A message that knows how to settle itself. */
export class Delivery<T = unknown> implements ClaimedMessage<T> {
  readonly queue: string;
  readonly group: string;
  readonly id: string;
  readonly claimId: string;
  readonly attempt: number;
  readonly key: string | null;
  readonly payload: T;
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
    this.headers = m.headers;
    this.enqueuedAt = m.enqueuedAt;
    this.#client = client;
  }

  /** Finishes the message; false when it was finished before. */
  async ack(): Promise<boolean> {
    return (await this.#client.ack(this.queue, this.claimId, this.#only)) === 1;
  }

  /** Gives the message back, to be delivered again later; false when it was finished before. */
  async nack(options: Pick<NackOptions, "delayMs" | "reason"> = {}): Promise<boolean> {
    return (await this.#client.nack(this.queue, this.claimId, { ...this.#only, ...options })) > 0;
  }

  /** Makes the message a dead letter now; false when it was finished before. */
  async reject(reason?: string): Promise<boolean> {
    return (await this.#client.reject(this.queue, this.claimId, { ...this.#only, reason })) === 1;
  }

  /** Gives the message's claim, and with it the others that came with it, more time. */
  async extend(leaseMs: number): Promise<Date> {
    return this.#client.extend(this.queue, this.claimId, leaseMs, { group: this.group });
  }

  get #only() {
    return { group: this.group, ids: [this.id] };
  }
}
