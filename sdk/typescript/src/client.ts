import { Coalescer } from "./coalesce.js";
import { Consumer, type ConsumerOptions } from "./consumer.js";
import type { PoolLike, Queryable } from "./database.js";
import { isPool, nested, transaction } from "./database.js";
import { Delivery } from "./delivery.js";
import { Code, fromDriver, refuse } from "./errors.js";
import { gathering, type HttpOptions, HttpTransport, type Token } from "./http.js";
import { JobCalls, type Shared } from "./job_calls.js";
import { Jobs, type Kinds } from "./jobs.js";
import { only, onlyEach } from "./known.js";
import { Producer } from "./producer.js";
import { abortable, pause, type RetryOptions, retry } from "./retry.js";
import { SqlTransport } from "./sql.js";
import { databaseOf } from "./target.js";
import type * as t from "./types.js";
import { digits } from "./types.js";
import { bytesOf, textOf } from "./values.js";
import { type Handler, Worker, type WorkerOptions } from "./worker.js";

/** Options of a client. */
export interface ClientOptions {
  /** How calls are tried again after errors that may pass. */
  retry?: RetryOptions | undefined;
  /** Stand around its sends and the handlers of its workers, such as `tracing()` of @weirmq/client/otel. */
  hooks?: t.Hooks | undefined;
}

/** Options of connect. */
export interface ConnectOptions extends ClientOptions {
  /** For a PostgreSQL DSN: passed to pg's Pool. */
  pool?: Record<string, unknown> | undefined;
  /** Shown to a server that asks who its callers are; a function is asked for one before each request. */
  token?: Token | undefined;
  /** For the URL of a server. */
  http?: HttpOptions | undefined;
}

/** The longest step of a receive that waits over SQL, where nobody wakes it. */
const stepMaxMs = 250;

/**
 * Connects to a PostgreSQL database with the engine (`postgres://...`, or `host=...`; needs the package pg) or to a
 * `weir serve` (`http://...`). `close` ends the connections.
 */
export async function connect<Q extends object = t.QueueMap>(
  target: string,
  options: ConnectOptions = {},
): Promise<Client<Q>> {
  only("connect", options);
  only("http", options.http);
  const { retry, hooks } = options;
  if (/^https?:\/\//.test(target))
    return new Client<Q>(new HttpTransport(target, options.http, options.token), { retry, hooks });
  if (options.token !== undefined)
    throw refuse(Code.notSupported, "a token is for a server", "The DSN of a database names a user.");
  const { Pool } = (await import("pg")).default;
  const pool = new Pool({ application_name: "weir", ...databaseOf(target), ...options.pool });
  return new Client<Q>(new SqlTransport(pool as PoolLike, () => pool.end()), { retry, hooks });
}

/**
 * The engine's functions as methods, over PostgreSQL or over HTTP. `Q` maps the names of queues to the types of their
 * payloads. What a method means is said of the SQL function of the same name.
 *
 * Concurrent calls share statements: of those that `send` a message, or a batch, or `enqueue` one job, to the same
 * queue with the same delay and priority, what comes while a statement is under way goes out together with the next, as
 * one batch, at most 1,000 messages or 1 MiB; a batch that is larger goes alone, and none is parted. Nothing waits for
 * company: what finds nothing under way goes at once. Each call returns when its own messages are committed, with their
 * ids or its own error: when the database refuses a statement, what each call had in it is sent alone. Sends with a
 * `dedupKey`, unique jobs, those with `runAt`, batches of jobs, and all of a client of anything but a Pool, go alone.
 * Over HTTP the server does the same.
 */
export class Client<Q extends object = t.QueueMap> extends JobCalls {
  private readonly transport: t.Transport;
  protected override readonly shared?: Shared;

  /** Makes a client of a pool, a connection, PGlite or anything else that runs a statement. */
  constructor(
    target: Queryable | t.Transport,
    private readonly options: ClientOptions = {},
    private readonly mayRetry = true,
  ) {
    super();
    only("client", options);
    only("retry", options.retry);
    this.transport = "settle" in target ? target : new SqlTransport(target);
    const { db } = this;
    if (!db || !isPool(db)) return;
    this.shared = sharing(this.transport as SqlTransport);
    // A pool tells of idle connections that broke by an event, which ends the process when nobody listens.
    if (db.listenerCount("error") === 0) db.on("error", () => {});
  }

  /** The database below; undefined over HTTP. */
  get db(): Queryable | undefined {
    return this.transport instanceof SqlTransport ? this.transport.db : undefined;
  }

  /** Ends what connect opened. */
  async close(): Promise<void> {
    await this.transport.close();
  }

  /** A client whose calls are part of the caller's own transaction; it never retries, commits or rolls back. */
  in(tx: Queryable): Client<Q> {
    return new Client<Q>(tx, this.options, false);
  }

  /** The same client over another pool or connection. */
  over(db: Queryable): Client<Q> {
    return new Client<Q>(db, this.options);
  }

  /**
   * Runs fn in a transaction that is committed when it returns and rolled back when it throws. Over PostgreSQL `db` is
   * the connection, for statements of your own. Over HTTP only send, sendBatch, ack, ackAll and finish can be part of
   * it: they are gathered and done when fn returns, so within it they return no ids and no counts.
   */
  async transaction<R>(fn: (tx: Client<Q>, db: Queryable) => Promise<R>): Promise<R> {
    const { db } = this;
    if (this.transport instanceof HttpTransport) return this.gather(this.transport, fn);
    if (!db) throw nested();
    let own: unknown;
    const work = async (tx: Queryable) => {
      try {
        return await fn(this.in(tx), tx);
      } catch (error) {
        own = error;
        throw error;
      }
    };
    try {
      return await transaction(db, work);
    } catch (error) {
      throw error === own ? error : fromDriver(error); // begin or commit failed
    }
  }

  private async gather<R>(http: HttpTransport, fn: (tx: Client<Q>, db: Queryable) => Promise<R>): Promise<R> {
    const transport = gathering();
    const none: Queryable = {
      query: () => Promise.reject(refuse("0A000", "there is no SQL over HTTP", "Connect to PostgreSQL.")),
    };
    const result = await fn(new Client<Q>(transport, this.options, false), none);
    await this.call(false, () => http.commit(transport.gathered));
    return result;
  }

  /** Sends one message and returns its id. */
  async send<K extends t.QueueName<Q>>(
    queue: K,
    payload: Q[K],
    options: t.SendOptions = {},
  ): Promise<string> {
    only("send", options);
    const { key, headers, dedupKey, signal, ...rest } = options;
    const message = { payload, key, headers, dedupKey };
    return this.sending(queue, [message], ([m = message]) =>
      abortable(signal, async () => {
        if (this.shared && m.dedupKey === undefined) {
          const [id] = await this.share(this.shared, queue, [m], options);
          return id as string;
        }
        return this.call(m.dedupKey !== undefined, async (c) => {
          signal?.throwIfAborted();
          return c.send(queue, m, rest);
        });
      }),
    );
  }

  /** Sends messages in their order, all or none, and returns their ids; many times faster than as many sends. */
  async sendBatch<K extends t.QueueName<Q>>(
    queue: K,
    messages: readonly t.Outgoing<Q[K]>[],
    options: t.SendBatchOptions = {},
  ): Promise<string[]> {
    only("sendBatch", options);
    onlyEach("message", messages);
    const { signal, ...rest } = options;
    const repeatable = messages.every((m) => m.dedupKey !== undefined);
    return this.sending(queue, messages, (ms) =>
      abortable(signal, async () => {
        if (this.shared && ms.length > 0 && ms.every((m) => m.dedupKey === undefined))
          return this.share(this.shared, queue, ms, options);
        return this.call(repeatable, async (c) => {
          signal?.throwIfAborted();
          return c.sendBatch(queue, ms, rest);
        });
      }),
    );
  }

  /** Sends messages in a call with those of others. */
  private async share(
    { sends }: Shared,
    queue: string,
    messages: readonly t.Outgoing[],
    { delayMs, priority, signal }: t.SendBatchOptions,
  ): Promise<string[]> {
    const texts = messages.map(textOf);
    const bytes = texts.reduce((sum, text) => sum + bytesOf(text), 0);
    return this.call(false, () => sends.send({ queue, delayMs, priority }, texts, bytes, signal));
  }

  /** Sends a message to every queue that has a binding for the topic. */
  async publish(topic: string, payload: unknown, options: t.PublishOptions = {}): Promise<t.Published[]> {
    only("publish", options);
    const { key, headers, dedupKey, ...rest } = options;
    const message = { payload, key, headers, dedupKey };
    return this.sending(topic, [message], ([{ payload: sent, ...more } = message]) =>
      this.call(dedupKey !== undefined, (c) => c.publish(topic, sent, { ...rest, ...more })),
    );
  }

  /** Sends messages of the topics that a pattern covers to a queue: `*` is one word, `#` any number of words. */
  async bind(pattern: string, queue: string): Promise<void> {
    await this.call(true, (c) => c.bind(pattern, queue));
  }

  /** Removes a binding and returns whether it was there. */
  async unbind(pattern: string, queue: string): Promise<boolean> {
    return this.call(false, (c) => c.unbind(pattern, queue));
  }

  /** The queues to which publish would send messages of a topic; sends nothing. */
  async route(topic: string): Promise<string[]> {
    return this.call(true, (c) => c.route(topic));
  }

  /** Lists the bindings of topics to queues. */
  async listBindings(): Promise<t.Binding[]> {
    return this.call(true, (c) => c.listBindings());
  }

  /** Shows a message, wherever in its queue it is; null when the queue does not hold it, or not any more. */
  async get<K extends t.QueueName<Q>>(queue: K, id: t.Id): Promise<t.StoredMessage<Q[K]> | null> {
    return (await this.call(true, (c) => c.get(queue, id))) as t.StoredMessage<Q[K]> | null;
  }

  /** Shows those of several messages, 1 to 1,000, that the queue holds, in the order of the ids; it is read once. */
  async getMany<K extends t.QueueName<Q>>(queue: K, ids: readonly t.Id[]): Promise<t.StoredMessage<Q[K]>[]> {
    return (await this.call(true, (c) => c.getMany(queue, ids))) as t.StoredMessage<Q[K]>[];
  }

  /**
   * Claims messages, all under one claim; none when there is nothing, or nothing came in the time to wait. Each can
   * settle itself.
   */
  async receive<K extends t.QueueName<Q>>(
    queue: K,
    options: t.ReceiveOptions = {},
  ): Promise<Delivery<Q[K]>[]> {
    only("receive", options);
    const { waitMs, signal } = options;
    const at = { queue, group: options.group ?? "default" };
    const until = performance.now() + (waitMs ?? 0);
    for (let stepMs = 2; ; stepMs = Math.min(stepMs * 2, stepMaxMs)) {
      const got = await this.call(false, (c) => c.receive(at, options));
      const leftMs = until - performance.now();
      if (got.length > 0 || leftMs <= 0 || signal?.aborted || this.transport instanceof HttpTransport)
        return got.map((m) => new Delivery(this as unknown as Client, m as t.ClaimedMessage<Q[K]>));
      await pause(Math.min(stepMs, leftMs), signal);
    }
  }

  /** Finishes these messages, and no others of their claim, and returns how many it finished. */
  async ack(queue: string, messages: t.MessageRefs): Promise<number> {
    return this.settle("ack", queue, messages);
  }

  /** Finishes what is left of a claim, and returns how many messages that was. */
  async ackAll(queue: string, claimId: t.Id): Promise<number> {
    const [n] = await this.settleAll("ack", { queue, group: "default" }, [{ claimId }]);
    return n ?? 0;
  }

  /** Gives messages back, to be delivered again later. */
  async nack(queue: string, messages: t.MessageRefs, options: t.NackOptions = {}): Promise<number> {
    only("nack", options);
    return this.settle("nack", queue, messages, options);
  }

  /** Makes messages dead letters now. */
  async reject(queue: string, messages: t.MessageRefs, options: t.RejectOptions = {}): Promise<number> {
    only("reject", options);
    return this.settle("reject", queue, messages, options);
  }

  /** Gives messages back unused: they are delivered again at once, and the delivery is not counted as an attempt. */
  async release(queue: string, messages: t.MessageRefs): Promise<number> {
    return this.settle("release", queue, messages);
  }

  /** Gives messages back for later; the attempt is not counted. */
  async snooze(queue: string, messages: t.MessageRefs, delayMs: number): Promise<number> {
    return this.settle("snooze", queue, messages, { delayMs });
  }

  private async settle(
    kind: t.SettleKind,
    queue: string,
    messages: t.MessageRefs,
    options: t.NackOptions = {},
  ): Promise<number> {
    const { group, claims } = byClaim(kind, messages);
    if (claims.size === 0) return 0;
    const items = [...claims].map(([claimId, ids]) => ({ claimId, ids, ...options }));
    const counts = await this.settleAll(kind, { queue, group }, items);
    return counts.reduce((sum, n) => sum + n, 0);
  }

  /** Settles messages of several claims in one transaction, all or none, and returns how many of each. */
  async settleAll(kind: t.SettleKind, at: t.GroupPath, items: readonly t.Settlement[]): Promise<number[]> {
    return this.call(kind === "ack", (c) => c.settle(kind, at, items));
  }

  /** Gives the claims of messages more time, all or none, and returns the first of their deadlines. */
  async extend(queue: string, messages: t.MessageRefs, leaseMs: number): Promise<Date> {
    const { group, claims } = byClaim("extend", messages);
    if (claims.size === 0) throw new TypeError("extend takes at least one message");
    return this.call(true, (c) => c.extend({ queue, group }, [...claims.keys()], leaseMs));
  }

  /** Takes messages and finishes them at once: each is delivered at most once. */
  async pop<K extends t.QueueName<Q>>(queue: K, options: t.TakeOptions = {}): Promise<t.Message<Q[K]>[]> {
    only("pop", options);
    const got = await this.call(false, (c) =>
      c.pop({ queue, group: options.group ?? "default" }, options.max),
    );
    return got as t.Message<Q[K]>[];
  }

  /** Shows messages that wait, without claiming them. */
  async peek<K extends t.QueueName<Q>>(queue: K, options: t.TakeOptions = {}): Promise<t.Message<Q[K]>[]> {
    only("peek", options);
    const got = await this.call(true, (c) =>
      c.peek({ queue, group: options.group ?? "default" }, options.max),
    );
    return got as t.Message<Q[K]>[];
  }

  /** Lists a group's dead letters by id. */
  async deadLetters<K extends t.QueueName<Q>>(
    queue: K,
    options: t.DeadLettersOptions = {},
  ): Promise<t.DeadLetter<Q[K]>[]> {
    only("deadLetters", options);
    const at = { queue, group: options.group ?? "default" };
    return (await this.call(true, (c) => c.deadLetters(at, options))) as t.DeadLetter<Q[K]>[];
  }

  /** Sends dead letters back to their group and returns how many; at most 10,000 a call. */
  async redrive(queue: string, options: t.DeadOptions = {}): Promise<number> {
    only("redrive", options);
    return this.call(false, (c) => c.redrive({ queue, group: options.group ?? "default" }, options.ids));
  }

  /** Deletes dead letters and returns how many. */
  async discard(queue: string, options: t.DeadOptions = {}): Promise<number> {
    only("discard", options);
    return this.call(false, (c) => c.discard({ queue, group: options.group ?? "default" }, options.ids));
  }

  /** Creates a log, the storage that queues share, and returns true; false when one with these settings is there. */
  async createLog(log: string, options: t.LogOptions = {}): Promise<boolean> {
    only("createLog", options);
    return this.call(true, (c) => c.createLog(log, options));
  }

  /** Changes settings of a log in use. */
  async configureLog(log: string, options: t.ConfigureLogOptions): Promise<void> {
    only("configureLog", options);
    await this.call(true, (c) => c.configureLog(log, options));
  }

  /** Drops a log that no queue uses. */
  async dropLog(log: string): Promise<void> {
    await this.call(false, (c) => c.dropLog(log));
  }

  /** Lists the logs by name. */
  async listLogs(): Promise<t.Log[]> {
    return this.call(true, (c) => c.listLogs());
  }

  /**
   * Creates a queue and its group `default`, and returns true; false when one with these settings is there, so that
   * programs call it whenever they start.
   */
  async createQueue(queue: string, options: t.QueueOptions = {}): Promise<boolean> {
    only("createQueue", options);
    return this.call(true, (c) => c.createQueue(queue, options));
  }

  /** Changes settings of a queue in use. */
  async configureQueue(queue: string, options: t.ConfigureQueueOptions): Promise<void> {
    only("configureQueue", options);
    await this.call(true, (c) => c.configureQueue(queue, options));
  }

  /** Gives a queue another name; what it holds stays. */
  async renameQueue(queue: string, newName: string): Promise<void> {
    await this.call(false, (c) => c.renameQueue(queue, newName));
  }

  /** Moves a queue in use to another log: new messages go there, and each group finishes the old one first. */
  async moveQueue(queue: string, log: string): Promise<void> {
    await this.call(true, (c) => c.moveQueue(queue, log));
  }

  /** Lists the queues that the caller may see, by name. */
  async listQueues(): Promise<t.Queue[]> {
    return this.call(true, (c) => c.listQueues());
  }

  /** Drops a queue with all that belongs to it. */
  async dropQueue(queue: string): Promise<void> {
    await this.call(false, (c) => c.dropQueue(queue));
  }

  /** Creates an independent reader of a queue. */
  async createGroup(queue: string, group: string, options: t.CreateGroupOptions = {}): Promise<void> {
    only("createGroup", options);
    await this.call(false, (c) => c.createGroup({ queue, group }, options));
  }

  /** Changes settings of a group in use. */
  async configureGroup(queue: string, group: string, options: t.ConfigureGroupOptions): Promise<void> {
    only("configureGroup", options);
    await this.call(true, (c) => c.configureGroup({ queue, group }, options));
  }

  /** Drops a group with its claims and dead letters. */
  async dropGroup(queue: string, group: string): Promise<void> {
    await this.call(false, (c) => c.dropGroup({ queue, group }));
  }

  /** Lists the groups of a queue. */
  async listGroups(queue: string): Promise<t.Group[]> {
    return this.call(true, (c) => c.listGroups(queue));
  }

  /** Moves a group: to 'start', 'end', a time or a message's id. */
  async seek(queue: string, group: string, position: string | Date): Promise<void> {
    const to = position instanceof Date ? position.toISOString() : position;
    await this.call(true, (c) => c.seek({ queue, group }, to));
  }

  /** Stops delivery to a group, or to all groups of a queue. */
  async pause(queue: string, options: t.GroupOptions = {}): Promise<void> {
    only("pause", options);
    await this.call(true, (c) => c.pause(queue, options.group));
  }

  /** Ends a pause. */
  async resume(queue: string, options: t.GroupOptions = {}): Promise<void> {
    only("resume", options);
    await this.call(true, (c) => c.resume(queue, options.group));
  }

  /** Drops what a group, or every group, has not finished, and returns how many messages. */
  async purge(queue: string, options: t.GroupOptions = {}): Promise<number> {
    only("purge", options);
    return this.call(false, (c) => c.purge(queue, options.group));
  }

  /** How each group stands. */
  async stats(queue?: string): Promise<t.GroupStats[]> {
    return this.call(true, (c) => c.stats(queue));
  }

  /** Looks for what is wrong or will be, the worst first. */
  async doctor(): Promise<t.Finding[]> {
    return this.call(true, (c) => c.doctor());
  }

  /** Gives space back, unless somebody began to within `everyMs`; returns how many steps it took. Workers call it. */
  async maintain(everyMs = 0): Promise<number> {
    return this.call(true, (c) => c.maintain(everyMs));
  }

  /** The release of the engine in the database. */
  async version(): Promise<string> {
    return this.call(true, (c) => c.version());
  }

  /** What sends to one queue. */
  producer<K extends t.QueueName<Q>>(queue: K): Producer<Q[K]> {
    return new Producer<Q[K]>(this as unknown as Client, queue);
  }

  /** What receives from one queue and group; its messages ack themselves. */
  consumer<K extends t.QueueName<Q>>(queue: K, options: ConsumerOptions = {}): Consumer<Q[K]> {
    return new Consumer<Q[K]>(this as unknown as Client, queue, options);
  }

  /** What claims messages and runs a handler for each, until it is stopped. */
  worker<K extends t.QueueName<Q>>(
    queue: K,
    handler: Handler<Q[K], Q>,
    options: WorkerOptions<Q[K], Q> = {},
  ): Worker<Q[K], Q> {
    return new Worker<Q[K], Q>(this, queue, handler, options);
  }

  /** The jobs of a queue: their functions by kind. */
  jobs<K extends Kinds>(queue: string, kinds: K): Jobs<K, Q> {
    return new Jobs<K, Q>(this, queue, kinds);
  }

  /** What stands around sends and handlers. */
  override get hooks(): t.Hooks | undefined {
    return this.options.hooks;
  }

  protected override call<R>(repeatable: boolean, fn: (transport: t.Transport) => Promise<R>): Promise<R> {
    if (!this.mayRetry) return fn(this.transport);
    return retry(this.options.retry ?? {}, repeatable, () => fn(this.transport));
  }
}

/** What concurrent calls over a pool share. */
function sharing(transport: SqlTransport): Shared {
  return {
    sends: new Coalescer(({ queue, ...options }, batch) => transport.sendTexts(queue, batch, options)),
    enqueues: new Coalescer(async ({ queue, ...options }, jobs) => {
      const enqueued = await transport.jobs.enqueueTexts(queue, jobs, options);
      return enqueued.map(({ id }) => id);
    }),
  };
}

/** Messages by their claims, which belong to one group. */
function byClaim(call: string, messages: t.MessageRefs): { group: string; claims: Map<string, t.Id[]> } {
  const list = (Array.isArray(messages) ? messages : [messages]) as readonly t.MessageRef[];
  const claims = new Map<string, t.Id[]>();
  for (const message of list) {
    if (typeof message !== "object" || message === null || !("id" in message && "claimId" in message))
      throw new TypeError(
        `${call} takes messages, or { claimId, id }; for what is left of a claim there is ackAll`,
      );
    const claim = digits(message.claimId);
    const ids = claims.get(claim);
    if (ids) ids.push(message.id);
    else claims.set(claim, [message.id]);
  }
  return { group: list[0]?.group ?? "default", claims };
}
