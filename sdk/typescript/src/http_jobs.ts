/** Jobs, schedules and workflows over HTTP. */

import { Code, WeirError } from "./errors.js";
import type { Json, Request } from "./http.js";
import { groupPath, query, queuePath } from "./paths.js";
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
import { encode } from "./values.js";

/** What makes requests. */
interface Caller {
  call(method: string, path: string, body?: string, how?: Request): Promise<Json>;
}

/** Where a kind of workflow is started, and what its steps are called there. */
const forms = {
  workflow: ["workflows", "steps"],
  chain: ["chains", "jobs"],
  batch: ["batches", "jobs"],
} as const;

/** The routes about jobs. */
export class HttpJobs implements JobTransport {
  constructor(private readonly http: Caller) {}

  async enqueue(queue: string, kind: string, args: unknown, o: JobOptions): Promise<string> {
    encode(args);
    const { key, headers, runAt, uniqueKey } = o;
    const [job] = await this.enqueueBatch(queue, [{ kind, args, key, headers, runAt, uniqueKey }], o);
    return job?.id as string;
  }

  async enqueueBatch(queue: string, jobs: readonly OutgoingJob[], o: JobOptions): Promise<Enqueued[]> {
    if (jobs.length === 0) return [];
    const body = {
      jobs: jobs.map(jobItem),
      delay_ms: o.delayMs,
      priority: o.priority,
      unique_for_ms: o.uniqueForMs,
      is_unique: o.unique,
      tracked: o.tracked,
    };
    const answer = await this.http.call("POST", `${queuePath(queue)}/jobs`, JSON.stringify(body));
    return answer.jobs.map((job: Json) => ({ id: String(job.id), repeated: job.repeated }));
  }

  async job(queue: string, id: Id): Promise<JobStatus | null> {
    try {
      const j = await this.http.call("GET", jobPath(queue, id), undefined, { idDepth: 1 });
      return {
        id: String(j.id),
        kind: j.kind,
        state: j.state,
        attempt: j.attempt,
        progress: j.progress,
        result: j.result,
        error: j.error,
        enqueuedAt: new Date(j.enqueued_at),
        runAt: maybeTime(j.run_at),
        progressAt: maybeTime(j.progress_at),
        finishedAt: maybeTime(j.finished_at),
        cancelledAt: maybeTime(j.cancelled_at),
      };
    } catch (error) {
      if (error instanceof WeirError && error.code === Code.messageNotFound) return null;
      throw error;
    }
  }

  async cancel(queue: string, id: Id, reason: string | undefined): Promise<string> {
    return (await this.http.call("POST", `${jobPath(queue, id)}/cancel`, JSON.stringify({ reason }))).state;
  }

  async cancelled(queue: string, claimIds: readonly Id[]): Promise<string[]> {
    const body = `{"claim_ids":[${claimIds.map(digits).join(",")}]}`;
    return (await this.http.call("POST", `${defaultPath(queue)}/cancelled`, body)).ids.map(String);
  }

  async progress(queue: string, job: MessageRef, value: unknown): Promise<boolean> {
    const body = ofClaim(job, { progress: value });
    return (await this.http.call("POST", `${defaultPath(queue)}/progress`, body)).go_on;
  }

  async finish(queue: string, job: MessageRef, result: unknown): Promise<number> {
    const body = `{"jobs":[${ofClaim(job, { result })}]}`;
    return (await this.http.call("POST", `${defaultPath(queue)}/finish`, body)).jobs[0].finished;
  }

  async schedule(
    name: string,
    queue: string,
    kind: string,
    args: unknown,
    o: ScheduleOptions,
  ): Promise<Date> {
    encode(args);
    const { cron, everyMs, timeZone, missed, key, headers, priority, unique, tracked } = o;
    const due = { cron, every_ms: everyMs, time_zone: timeZone, missed };
    const job = { queue, kind, args, key, headers, priority, is_unique: unique, tracked };
    return new Date(
      (await this.http.call("PUT", schedulePath(name), JSON.stringify({ ...due, ...job }))).next_at,
    );
  }

  async unschedule(name: string): Promise<boolean> {
    return (await this.http.call("DELETE", schedulePath(name))).unscheduled;
  }

  async pauseSchedule(name: string): Promise<void> {
    await this.http.call("POST", `${schedulePath(name)}/pause`);
  }

  async resumeSchedule(name: string): Promise<void> {
    await this.http.call("POST", `${schedulePath(name)}/resume`);
  }

  async listSchedules(queue: string | undefined): Promise<Schedule[]> {
    const { schedules } = await this.http.call("GET", `/v1/schedules${query({ queue })}`);
    return schedules.map((s: Json) => ({
      name: s.name,
      queue: s.queue,
      cron: s.cron,
      everyMs: s.every_ms,
      timeZone: s.time_zone,
      missed: s.missed,
      kind: s.kind,
      args: s.args,
      paused: s.paused,
      nextAt: maybeTime(s.next_at),
      lastAt: maybeTime(s.last_at),
      lastId: s.last_id === null ? null : String(s.last_id),
      error: s.error,
      createdAt: new Date(s.created_at),
    }));
  }

  async nextTimes(cron: string, o: NextTimesOptions): Promise<Date[]> {
    const path = `/v1/next_times${query({ cron, time_zone: o.timeZone, n: o.n })}`;
    return (await this.http.call("GET", path)).times.map((text: string) => new Date(text));
  }

  async startWorkflow(queue: string, w: NewWorkflow): Promise<string> {
    const [resource, word] = forms[w.form];
    const callback = w.callback && stepItem(w.callback);
    const body = JSON.stringify({ [word]: w.steps.map(stepItem), callback, name: w.name });
    const answer = await this.http.call("POST", `${queuePath(queue)}/${resource}`, body, { idDepth: 1 });
    return String(answer.workflow);
  }

  async workflow(queue: string, id: Id): Promise<WorkflowStep[]> {
    const { steps } = await this.http.call("GET", `${queuePath(queue)}/workflows/${digits(id)}`);
    return steps.map((s: Json) => ({
      no: s.no,
      name: s.name,
      kind: s.kind,
      after: s.after ?? [],
      state: s.state,
      id: s.id === null ? null : String(s.id),
      result: s.result,
      endedAt: maybeTime(s.ended_at),
    }));
  }
}

function jobPath(queue: string, id: Id): string {
  return `${queuePath(queue)}/jobs/${digits(id)}`;
}

function schedulePath(name: string): string {
  return `/v1/schedules/${encodeURIComponent(name)}`;
}

/** A claim belongs to a group, so any one serves to name it by. */
function defaultPath(queue: string): string {
  return groupPath({ queue, group: "default" });
}

/** A job of a claim. Ids are written as they are: a number of JavaScript may not hold them. */
export function ofClaim({ claimId, id }: MessageRef, more: object): string {
  const rest = JSON.stringify(more).slice(1, -1);
  return `{"claim_id":${digits(claimId)},"id":${digits(id)}${rest && ","}${rest}}`;
}

function maybeTime(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
