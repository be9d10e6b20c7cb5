import type { Coalescer } from "./coalesce.js";
import { only, onlyEach } from "./known.js";
import type * as t from "./types.js";
import { jobItem } from "./types.js";
import type { Text } from "./values.js";

/** What the messages, or jobs, of a shared call have in common. */
interface Aim extends Omit<t.SendBatchOptions, "signal"> {
  queue: string;
}

/** What has concurrent calls of a client share statements. */
export interface Shared {
  sends: Coalescer<Aim, Text>;
  enqueues: Coalescer<Aim & { tracked?: boolean | undefined }, string>;
}

/** What a client can do with jobs, schedules and workflows. */
export abstract class JobCalls {
  /** What stands around sends and handlers. */
  abstract get hooks(): t.Hooks | undefined;

  /** Has concurrent calls share statements. */
  protected abstract readonly shared?: Shared | undefined;

  /** Makes a call, and again where that does no harm. */
  protected abstract call<R>(repeatable: boolean, fn: (transport: t.Transport) => Promise<R>): Promise<R>;

  /** Sends as the hooks want it. */
  protected sending<R>(
    destination: string,
    messages: readonly t.Outgoing[],
    send: (messages: readonly t.Outgoing[]) => Promise<R>,
  ): Promise<R> {
    if (!this.hooks) return send(messages);
    return this.hooks.sending(destination, messages, async (passed) => {
      if (passed.length === messages.length) return send(passed);
      throw new RangeError(`a hook made ${passed.length} messages of ${messages.length}`);
    });
  }

  /** Enqueues a job, and returns its id or that of the job of the same unique key that is there already. */
  async enqueue(
    queue: string,
    kind: string,
    args: unknown = {},
    options: t.JobOptions = {},
  ): Promise<string> {
    only("enqueue", options);
    const { unique = false, uniqueKey, uniqueForMs } = options;
    const repeatable = unique || uniqueKey !== undefined || uniqueForMs !== undefined;
    const job = { kind, args, key: options.key, headers: options.headers };
    return this.sending(queue, outgoing([job]), (ms) => {
      const [{ args: sent, key, headers } = job] = asSent([job], ms);
      if (this.shared && !repeatable && !options.runAt) {
        const { enqueues } = this.shared;
        const text = JSON.stringify(jobItem({ kind, args: sent, key, headers }));
        const { delayMs, priority, tracked } = options;
        return this.call(false, async () => {
          const [id] = await enqueues.send({ queue, delayMs, priority, tracked }, [text], text.length);
          return id as string;
        });
      }
      return this.call(repeatable, (c) => c.jobs.enqueue(queue, kind, sent, { ...options, key, headers }));
    });
  }

  /** Enqueues many jobs, all or none. */
  async enqueueBatch(
    queue: string,
    jobs: readonly t.OutgoingJob[],
    options: Omit<t.JobOptions, "key" | "headers" | "runAt" | "uniqueKey"> = {},
  ): Promise<t.Enqueued[]> {
    only("enqueueBatch", options);
    onlyEach("job", jobs);
    const { unique = false, uniqueForMs } = options;
    const repeatable =
      unique || uniqueForMs !== undefined || jobs.every(({ uniqueKey }) => uniqueKey !== undefined);
    return this.sending(queue, outgoing(jobs), (ms) =>
      this.call(repeatable, (c) => c.jobs.enqueueBatch(queue, asSent(jobs, ms), options)),
    );
  }

  /** How a tracked job stands; null when it is not tracked or ended longer ago than such are kept. */
  async job(queue: string, id: t.Id): Promise<t.JobStatus | null> {
    return this.call(true, (c) => c.jobs.job(queue, id));
  }

  /** Cancels a job: 'cancelled', or 'running': its worker is told, or 'ended': it was too late. */
  async cancel(queue: string, id: t.Id, reason?: string): Promise<"cancelled" | "running" | "ended"> {
    return (await this.call(true, (c) => c.jobs.cancel(queue, id, reason))) as
      "cancelled" | "running" | "ended";
  }

  /** The ids of those jobs of claims that were cancelled. */
  async cancelled(queue: string, claimIds: readonly t.Id[]): Promise<string[]> {
    return this.call(true, (c) => c.jobs.cancelled(queue, claimIds));
  }

  /** Tells how far a job is; false when it was cancelled. */
  async progress(queue: string, job: t.MessageRef, value?: unknown): Promise<boolean> {
    return this.call(true, (c) => c.jobs.progress(queue, job, value));
  }

  /** Acks a job and keeps its result, if it is tracked. */
  async finish(queue: string, job: t.MessageRef, result?: unknown): Promise<number> {
    return this.call(true, (c) => c.jobs.finish(queue, job, result));
  }

  /**
   * Enqueues a job again and again: makes a schedule, or changes the one of that name, and returns when it is due next.
   * Programs call it whenever they start. Workers fire schedules, each due time once, however many there are.
   */
  async schedule(
    name: string,
    queue: string,
    kind: string,
    args: unknown = {},
    options: t.ScheduleOptions = {},
  ): Promise<Date> {
    only("schedule", options);
    return this.call(true, (c) => c.jobs.schedule(name, queue, kind, args, options));
  }

  /** Removes a schedule and returns whether it was there; jobs that it has enqueued stay. */
  async unschedule(name: string): Promise<boolean> {
    return this.call(false, (c) => c.jobs.unschedule(name));
  }

  /** Has a schedule not fired until resumeSchedule. */
  async pauseSchedule(name: string): Promise<void> {
    await this.call(true, (c) => c.jobs.pauseSchedule(name));
  }

  /** Ends the pause of a schedule. */
  async resumeSchedule(name: string): Promise<void> {
    await this.call(true, (c) => c.jobs.resumeSchedule(name));
  }

  /** Lists the schedules of a queue, or of all. */
  async listSchedules(queue?: string): Promise<t.Schedule[]> {
    return this.call(true, (c) => c.jobs.listSchedules(queue));
  }

  /** When a cron expression would be due next. */
  async nextTimes(cron: string, options: t.NextTimesOptions = {}): Promise<Date[]> {
    only("nextTimes", options);
    return this.call(true, (c) => c.jobs.nextTimes(cron, options));
  }

  /**
   * Starts jobs of which some come after others, and returns the workflow's id. A step's job is enqueued in the
   * transaction that finishes the last of those before it; its header `job` has their results. A step that is done is
   * not run again, whatever is restarted.
   */
  async startWorkflow(
    queue: string,
    steps: readonly t.Step[],
    options: t.WorkflowOptions = {},
  ): Promise<string> {
    only("startWorkflow", options);
    onlyEach("step", steps);
    return this.start(queue, { form: "workflow", steps, ...options });
  }

  /** Starts jobs that come one after the other: see startWorkflow. */
  async startChain(
    queue: string,
    jobs: readonly t.StepJob[],
    options: t.WorkflowOptions = {},
  ): Promise<string> {
    only("startChain", options);
    onlyEach("stepJob", jobs);
    return this.start(queue, { form: "chain", steps: jobs, ...options });
  }

  /** Starts jobs all at once, and one, the callback, when all have ended, however they did: exactly once. */
  async startBatch(
    queue: string,
    jobs: readonly t.StepJob[],
    callback: t.StepJob,
    options: t.WorkflowOptions = {},
  ): Promise<string> {
    only("startBatch", options);
    onlyEach("stepJob", [...jobs, callback]);
    return this.start(queue, { form: "batch", steps: jobs, callback, ...options });
  }

  private async start(queue: string, { steps, callback, ...rest }: t.NewWorkflow): Promise<string> {
    const all = callback ? [...steps, callback] : steps;
    const started = await this.sending(queue, outgoing(all), async (ms) => {
      const sent = asSent(all, ms);
      const last = callback && sent.pop();
      const workflow = { ...rest, steps: sent, callback: last };
      return {
        workflow: await this.call(rest.name !== undefined, (c) => c.jobs.startWorkflow(queue, workflow)),
      };
    });
    return started.workflow;
  }

  /** How the steps of a workflow stand; none when there is no such workflow, or not any more. */
  async workflow(queue: string, id: t.Id): Promise<t.WorkflowStep[]> {
    return this.call(true, (c) => c.jobs.workflow(queue, id));
  }
}

/** Jobs or steps as the messages that they become. */
function outgoing(jobs: readonly (t.OutgoingJob | t.Step)[]): t.Outgoing[] {
  return jobs.map(({ args = {}, key, headers }) => ({ payload: args, key, headers }));
}

/** Jobs or steps with what a hook made of their messages. */
function asSent<J extends t.OutgoingJob | t.Step>(jobs: readonly J[], messages: readonly t.Outgoing[]): J[] {
  return jobs.map((job, i) => {
    const { payload, key, headers } = messages[i] as t.Outgoing;
    return { ...job, args: payload, key, headers };
  });
}
