/** How values become parameters of statements, and columns values. */

import type { Row } from "./database.js";
import { Code, refuse } from "./errors.js";
import type { GroupStats, Id, Outgoing, Standing } from "./types.js";
import { digits } from "./types.js";

/** How a parameter, which is always a text or null, becomes a value of the type that a function takes. */
export const casts = {
  timestamptz: (p: string) => `${p}::text::timestamptz`,
  text: (p: string) => `${p}::text`,
  bigint: (p: string) => `${p}::text::bigint`,
  int: (p: string) => `${p}::text::int`,
  boolean: (p: string) => `${p}::text::boolean`,
  jsonb: (p: string) => `${p}::text::jsonb`,
  interval: (p: string) => `make_interval(secs => ${p}::text::float8 / 1000)`,
  "jsonb[]": (p: string) => `array(select jsonb_array_elements(${p}::text::jsonb))`,
  "object[]": (p: string) => `array(select nullif(e, 'null') from jsonb_array_elements(${p}::text::jsonb) e)`,
  "text[]": (p: string) => `array(select jsonb_array_elements_text(${p}::text::jsonb))`,
  "bigint[]": (p: string) => `array(select e::bigint from jsonb_array_elements_text(${p}::text::jsonb) e)`,
};

/** An argument: its type, and its value as a text; one that is undefined is left to the function's default. */
export type Argument = [type: keyof typeof casts, value: string | null | undefined];
export type Arguments = Record<string, Argument>;

/** A payload as JSON. What JSON has no form for is refused here, as SQL null is by the engine. */
export function encode(payload: unknown): string {
  const text = JSON.stringify(payload);
  if (text === undefined) {
    throw refuse(Code.nullPayload, `the payload is ${typeof payload}`, "Pass a JSON value; null is one.");
  }
  return text;
}

export function json(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** A message whose payload and headers are JSON texts. */
export interface Text {
  readonly payload: string;
  readonly key: string | undefined;
  readonly headers: string | undefined;
  readonly dedupKey: string | undefined;
}

export function textOf({ payload, key, headers, dedupKey }: Outgoing): Text {
  return { payload: encode(payload), key, headers: json(headers), dedupKey };
}

/** What each message has, which is JSON, as a list; undefined when none has it. */
export function each(batch: readonly Text[], value: (m: Text) => string | undefined): string | undefined {
  const all = batch.map(value);
  return all.some((one) => one !== undefined) ? `[${all.map((one) => one ?? "null").join(",")}]` : undefined;
}

/** About how many bytes a message has. */
export function bytesOf({ payload, key = "", headers = "" }: Text): number {
  return payload.length + key.length + headers.length;
}

export function number(value: number | undefined): string | undefined {
  return value?.toString();
}

export function list(ids: readonly Id[] | undefined): string | undefined {
  return ids && JSON.stringify(ids.map(digits));
}

export function parse(text: unknown): unknown {
  return text === null ? null : JSON.parse(text as string);
}

/** A time that was read as JSON. */
export function time(text: unknown): Date {
  return new Date(parse(text) as string);
}

/** A time that may be null. */
export function maybeTime(text: unknown): Date | null {
  return text === null ? null : time(text);
}

/** The details of a stored message, as they were read as JSON. */
export function standings(details: Record<string, Row>): Record<string, Standing> {
  return Object.fromEntries(Object.entries(details).map(([group, known]) => [group, standing(known)]));
}

function standing({ claim_id, since, until, behind, ...rest }: Row): Standing {
  return {
    ...rest,
    ...(claim_id !== undefined && { claimId: String(claim_id) }),
    ...(since !== undefined && { since: new Date(since as string) }),
    ...(until !== undefined && { until: new Date(until as string) }),
    ...(behind !== undefined && { behind: String(behind) }),
  };
}

const maybeNumber = (value: unknown) => (value === null ? null : Number(value));

/** How a group stands, from a row of stats or its JSON. */
export function groupStats(g: Row): GroupStats {
  return {
    queue: g.queue as string,
    group: g.group as string,
    waiting: Number(g.waiting),
    expired: Number(g.expired),
    claimed: Number(g.claimed),
    delayed: Number(g.delayed),
    parked: Number(g.parked),
    dead: Number(g.dead),
    oldestAgeS: Number(g.waiting) > 0 ? maybeNumber(g.oldest_age_s) : null,
    exact: g.exact as boolean,
    sentRate: Number(g.sent_rate),
    deliveredRate: Number(g.delivered_rate),
    deliveredAt: g.delivered_at === null ? null : new Date(g.delivered_at as string),
    expiries: Number(g.expiries),
    hotKey: g.hot_key as string | null,
    hotKeyShare: maybeNumber(g.hot_key_share),
    heldBy: g.held_by as GroupStats["heldBy"],
    lanes: Number(g.lanes),
    log: g.log as string,
    heldSegments: Number(g.held_segments),
    segments: Number(g.segments),
    bytes: Number(g.bytes),
    blockedBy: g.blocked_by as string | null,
    blockerPid: maybeNumber(g.blocker_pid),
    blockerAgeS: maybeNumber(g.blocker_age_s),
    blockerQuery: g.blocker_query as string | null,
  };
}
