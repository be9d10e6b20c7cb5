import type { Client } from "./client.js";
import type { Queryable } from "./database.js";
import type { Outgoing, SendBatchOptions, SendOptions } from "./types.js";

/** Sends messages of one type to one queue. */
export class Producer<T = unknown> {
  constructor(
    private readonly client: Client,
    readonly queue: string,
  ) {}

  /** A producer whose sends are part of the caller's own transaction. */
  in(tx: Queryable): Producer<T> {
    return new Producer<T>(this.client.in(tx), this.queue);
  }

  /** Sends one message and returns its id. */
  async send(payload: T, options: SendOptions = {}): Promise<string> {
    return this.client.send(this.queue, payload, options);
  }

  /** Sends messages in their order, all or none, and returns their ids. */
  async sendBatch(messages: readonly Outgoing<T>[], options: SendBatchOptions = {}): Promise<string[]> {
    return this.client.sendBatch(this.queue, messages, options);
  }
}
