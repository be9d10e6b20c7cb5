/** How values become parameters of statements, and columns values. */

import { Code, refuse } from "./errors.js";
import type { Id, Outgoing } from "./types.js";
import { digits } from "./types.js";

/** How a parameter, which is always a text or null, becomes a value of the type that a function takes. */
export const casts = {
  timestamptz: (p: string) => `${p}::text::timestamptz`,
  text: (p: string) => `${p}::text`,
  bigint: (p: string) => `${p}::text::bigint`,
  int: (p: string) => `${p}::text::int`,
  boolean: (p: string) => `${p}::text::boolean`,
  json: (p: string) => `${p}::text::json`,
  jsonb: (p: string) => `${p}::text::jsonb`,
  interval: (p: string) => `make_interval(secs => ${p}::text::float8 / 1000)`,
  "json[]": (p: string) => `array(select json_array_elements(${p}::text::json))`,
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

/** The bytes of a message that was sent as such, from base64; no property of one that has a payload. */
export function body(text: unknown): { body?: Uint8Array } {
  return typeof text === "string" ? { body: Buffer.from(text, "base64") } : {};
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
