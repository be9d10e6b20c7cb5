import type { Client } from "./client.js";
import type { ClaimedMessage, Enqueued, Id, JobOptions, JobStatus, QueueMap } from "./types.js";
import { Finished, type HandlerContext, Worker, type WorkerOptions } from "./worker.js";

/** The job that is at work. */
export interface RunningJob<Q extends object = QueueMap> extends HandlerContext<Q> {
  readonly id: string;
  /** 1 at the first. */
  readonly attempt: number;
  readonly message: ClaimedMessage;
  /** Tells how far it is; false when the job was cancelled. */
  progress(value?: unknown): Promise<boolean>;
}

/** The functions of jobs by their kinds. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind has arguments of its own
export type Kinds = Record<string, (args: any, job: RunningJob<any>) => unknown>;

/** What the function of a kind takes. */
export type ArgsOf<F extends Kinds[string]> = Parameters<F> extends [] ? object : Parameters<F>[0];

/** The jobs of one queue: their functions by kind, and the worker that runs them. */
export class Jobs<K extends Kinds, Q extends object = QueueMap> {
  constructor(
    private readonly client: Client<Q>,
    readonly queue: string,
    private readonly kinds: K,
  ) {}

  /** The same, enqueued in the caller's transaction: of a client that `in` or `transaction` made. */
  in(tx: Client<Q>): Jobs<K, Q> {
    return new Jobs(tx, this.queue, this.kinds);
  }

  /** Enqueues a job and returns its id, or that of the job of the same unique key that is there already. */
  async enqueue<N extends Extract<keyof K, string>>(
    kind: N,
    args: ArgsOf<K[N]>,
    options: JobOptions = {},
  ): Promise<string> {
    return this.client.enqueue(this.queue, kind, args, options);
  }

  /** Enqueues many jobs of one kind, all or none. */
  async enqueueMany<N extends Extract<keyof K, string>>(
    kind: N,
    each: readonly ArgsOf<K[N]>[],
    options: Omit<JobOptions, "key" | "headers" | "runAt" | "uniqueKey"> = {},
  ): Promise<Enqueued[]> {
    const jobs = each.map((args) => ({ kind, args }));
    return this.client.enqueueBatch(this.queue, jobs, options);
  }

  /** How a tracked job stands; null when it is not tracked or ended longer ago than such are kept. */
  async status(id: Id): Promise<JobStatus | null> {
    return this.client.job(this.queue, id);
  }

  /** Cancels a job: 'cancelled', or 'running': its worker is told, or 'ended': it was too late. */
  async cancel(id: Id, reason?: string): Promise<"cancelled" | "running" | "ended"> {
    return this.client.cancel(this.queue, id, reason);
  }

  /** A worker that runs the jobs of the queue. What a function of a tracked job returns is kept as its result. */
  worker(options: WorkerOptions<unknown, Q> = {}): Worker<unknown, Q> {
    return new Worker<unknown, Q>(this.client, this.queue, (m, context) => this.run(m, context), {
      ...options,
      jobs: true,
    });
  }

  private async run(message: ClaimedMessage, context: HandlerContext<Q>): Promise<unknown> {
    const { kind, job } = (message.headers ?? {}) as {
      kind?: string;
      job?: { tracked?: boolean; workflow?: unknown };
    };
    const fn = kind !== undefined && Object.hasOwn(this.kinds, kind) ? this.kinds[kind] : undefined;
    // Another worker may know it, such as one of the next release.
    if (!fn) throw new Error(`this worker has no function for the kind ${kind}`);
    const running: RunningJob<Q> = {
      ...context,
      id: message.id,
      attempt: message.attempt,
      message,
      progress: (value) => this.client.progress(message.queue, message, value),
    };
    const result = await fn(message.payload, running);
    const kept = job?.tracked && result !== undefined;
    // A step of a workflow that is acked only goes on late.
    return kept || job?.workflow !== undefined ? new Finished(result) : undefined;
  }
}
