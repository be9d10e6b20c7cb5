import type { Client } from "./client.js";
import type { Delivery } from "./delivery.js";
import { only } from "./known.js";
import type { ReceiveOptions } from "./types.js";

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
    return (await this.client.receive(this.queue, this.options)) as Delivery<T>[];
  }

  /** Claims messages without end, or until the signal of the options is aborted. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Delivery<T>, void, undefined> {
    const options = { waitMs, ...this.options };
    while (!this.options.signal?.aborted) {
      for (const message of await this.client.receive(this.queue, options)) yield message as Delivery<T>;
    }
  }
}
