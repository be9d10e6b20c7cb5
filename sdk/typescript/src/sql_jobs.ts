/** Jobs, schedules and workflows over SQL. */

import type { Row } from "./database.js";
import type {
  Enqueued,
  Id,
  JobOptions,
  JobStatus,
  JobTransport,
  MessageRef,
  NewWorkflow,
  NextTimesOptions,
  OutgoingJob,
  Schedule,
  ScheduleOptions,
  WorkflowStep,
} from "./types.js";
import { digits, jobItem, stepItem } from "./types.js";
import { type Arguments, encode, json, list, maybeTime, number, parse, time } from "./values.js";

const jobColumns = `id::text, kind, state, attempt, progress::text, result::text, error,
  to_json(enqueued_at)::text as enqueued_at, to_json(run_at)::text as run_at, to_json(progress_at)::text as progress_at,
  to_json(finished_at)::text as finished_at, to_json(cancelled_at)::text as cancelled_at`;
const scheduleColumns = `name, queue_name, cron, extract(epoch from every)::float8 as every_s, time_zone, missed, kind,
  args::text, paused, to_json(next_at)::text as next_at, to_json(last_at)::text as last_at, last_id::text, error,
  to_json(created_at)::text as created_at`;
const stepColumns = `no, name, kind, to_json("after")::text as "after", state, id::text, result::text,
  to_json(ended_at)::text as ended_at`;

/** What calls functions of the engine. */
interface Caller {
  /** Calls a function that returns one value, and returns that as a text. */
  value(name: string, args: Arguments): Promise<string>;
  call(columns: string, name: string, args: Arguments): Promise<Row[]>;
}

/** The functions of the engine about jobs. */
export class SqlJobs implements JobTransport {
  constructor(private readonly sql: Caller) {}

  async enqueue(queue: string, kind: string, args: unknown, o: JobOptions): Promise<string> {
    return this.sql.value("enqueue", {
      queue_name: ["text", queue],
      kind: ["text", kind],
      args: ["json", encode(args)],
      key: ["text", o.key],
      headers: ["jsonb", json(o.headers)],
      run_at: ["timestamptz", o.runAt?.toISOString()],
      unique_key: ["text", o.uniqueKey],
      ...jobSettings(o),
    });
  }

  async enqueueBatch(queue: string, jobs: readonly OutgoingJob[], o: JobOptions): Promise<Enqueued[]> {
    return this.enqueueTexts(
      queue,
      jobs.map((job) => JSON.stringify(jobItem(job))),
      o,
    );
  }

  /** Enqueues jobs that are JSON texts. */
  async enqueueTexts(queue: string, jobs: readonly string[], o: JobOptions): Promise<Enqueued[]> {
    const args: Arguments = {
      queue_name: ["text", queue],
      jobs: ["json[]", `[${jobs.join(",")}]`],
    };
    const rows = await this.sql.call("id::text, repeated", "enqueue_batch", { ...args, ...jobSettings(o) });
    return rows as unknown as Enqueued[];
  }

  async job(queue: string, id: Id): Promise<JobStatus | null> {
    const args: Arguments = { queue_name: ["text", queue], id: ["bigint", digits(id)] };
    const [row] = await this.sql.call(jobColumns, "job", args);
    if (!row) return null;
    return {
      id: row.id as string,
      kind: row.kind as string,
      state: row.state as JobStatus["state"],
      attempt: Number(row.attempt),
      progress: parse(row.progress),
      result: parse(row.result),
      error: row.error as string | null,
      enqueuedAt: time(row.enqueued_at),
      runAt: maybeTime(row.run_at),
      progressAt: maybeTime(row.progress_at),
      finishedAt: maybeTime(row.finished_at),
      cancelledAt: maybeTime(row.cancelled_at),
    };
  }

  async cancel(queue: string, id: Id, reason: string | undefined): Promise<string> {
    const args: Arguments = {
      queue_name: ["text", queue],
      id: ["bigint", digits(id)],
      reason: ["text", reason],
    };
    return this.sql.value("cancel", args);
  }

  async cancelled(queue: string, claimIds: readonly Id[]): Promise<string[]> {
    const args: Arguments = { queue_name: ["text", queue], claim_ids: ["bigint[]", list(claimIds)] };
    return (await this.sql.call("distinct id::text", "cancelled", args)).map((row) => row.id as string);
  }

  async progress(queue: string, job: MessageRef, value: unknown): Promise<boolean> {
    const told = await this.sql.value("progress", {
      ...ofClaim(queue, job),
      progress: ["jsonb", json(value)],
    });
    return told === "true";
  }

  async finish(queue: string, job: MessageRef, result: unknown): Promise<number> {
    return Number(
      await this.sql.value("finish", { ...ofClaim(queue, job), result: ["jsonb", json(result)] }),
    );
  }

  async schedule(
    name: string,
    queue: string,
    kind: string,
    args: unknown,
    o: ScheduleOptions,
  ): Promise<Date> {
    const [row] = await this.sql.call("to_json(result)::text as result", "schedule", {
      name: ["text", name],
      cron: ["text", o.cron ?? null],
      queue_name: ["text", queue],
      kind: ["text", kind],
      args: ["jsonb", encode(args)],
      time_zone: ["text", o.timeZone],
      missed: ["text", o.missed],
      every: ["interval", number(o.everyMs)],
      key: ["text", o.key],
      headers: ["jsonb", json(o.headers)],
      priority: ["int", number(o.priority)],
      is_unique: ["boolean", o.unique?.toString()],
      tracked: ["boolean", o.tracked?.toString()],
    });
    return time(row?.result);
  }

  async unschedule(name: string): Promise<boolean> {
    return (await this.sql.value("unschedule", { name: ["text", name] })) === "true";
  }

  async pauseSchedule(name: string): Promise<void> {
    await this.sql.value("pause_schedule", { name: ["text", name] });
  }

  async resumeSchedule(name: string): Promise<void> {
    await this.sql.value("resume_schedule", { name: ["text", name] });
  }

  async listSchedules(queue: string | undefined): Promise<Schedule[]> {
    const rows = await this.sql.call(scheduleColumns, "list_schedules", { queue_name: ["text", queue] });
    return rows.map((row) => ({
      name: row.name as string,
      queue: row.queue_name as string,
      cron: row.cron as string | null,
      everyMs: row.every_s === null ? null : Number(row.every_s) * 1000,
      timeZone: row.time_zone as string,
      missed: row.missed as Schedule["missed"],
      kind: row.kind as string,
      args: parse(row.args),
      paused: row.paused as boolean,
      nextAt: maybeTime(row.next_at),
      lastAt: maybeTime(row.last_at),
      lastId: row.last_id as string | null,
      error: row.error as string | null,
      createdAt: time(row.created_at),
    }));
  }

  async nextTimes(cron: string, o: NextTimesOptions): Promise<Date[]> {
    const args: Arguments = {
      cron: ["text", cron],
      time_zone: ["text", o.timeZone],
      n: ["int", number(o.n)],
    };
    const rows = await this.sql.call("to_json(result)::text as result", "next_times", args);
    return rows.map((row) => time(row.result));
  }

  async startWorkflow(queue: string, w: NewWorkflow): Promise<string> {
    const steps = JSON.stringify(w.steps.map(stepItem));
    return this.sql.value(`start_${w.form}`, {
      queue_name: ["text", queue],
      [w.form === "workflow" ? "steps" : "jobs"]: ["jsonb[]", steps],
      callback: ["jsonb", w.callback && JSON.stringify(stepItem(w.callback))],
      name: ["text", w.name],
    });
  }

  async workflow(queue: string, id: Id): Promise<WorkflowStep[]> {
    const args: Arguments = { queue_name: ["text", queue], workflow: ["bigint", digits(id)] };
    const rows = await this.sql.call(stepColumns, "workflow", args);
    const steps = rows.map((row) => ({
      no: Number(row.no),
      name: row.name as string,
      kind: row.kind as string,
      after: (parse(row.after) ?? []) as string[],
      state: row.state as WorkflowStep["state"],
      id: row.id as string | null,
      result: parse(row.result),
      endedAt: maybeTime(row.ended_at),
    }));
    return steps.sort((a, b) => a.no - b.no);
  }
}

/** How jobs are enqueued, one or many. */
function jobSettings(o: JobOptions): Arguments {
  return {
    delay: ["interval", number(o.delayMs)],
    priority: ["int", number(o.priority)],
    unique_for: ["interval", number(o.uniqueForMs)],
    is_unique: ["boolean", o.unique?.toString()],
    tracked: ["boolean", o.tracked?.toString()],
  };
}

/** A job that was claimed. */
function ofClaim(queue: string, { claimId, id }: MessageRef): Arguments {
  return {
    queue_name: ["text", queue],
    claim_id: ["bigint", digits(claimId)],
    id: ["bigint", digits(id)],
  };
}
