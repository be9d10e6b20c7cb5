import { Code, codeInfos } from "./errors_generated.js";

export { Code } from "./errors_generated.js";

/** SQLSTATEs that no engine raises but PostgreSQL and the connection to it. */
const cannotConnect = "08001";
const connectionFailure = "08006";

/** A function, a column, a schema that is not there to be called, and the cure. */
const undefinedCodes = ["42883", "42703", "3F000"];
const hintOlder =
  "The engine is older than this package, or is not installed: upgrade it with `weir install`.";

/** What is known of a failed call. */
interface Fault {
  code: string;
  name: string;
  message: string;
  detail?: string | undefined;
  hint?: string | undefined;
  status: number;
  retryable: boolean;
  outcomeUnknown?: boolean;
  cause?: unknown;
}

/** A failure that the engine, PostgreSQL or the way to it reported. Look at `code`, never at `message`. */
export class WeirError extends Error {
  /** SQLSTATE; class WR is the engine's own: see `Code`. */
  readonly code: string;
  /** The code in words, such as `queue_not_found`. */
  override readonly name: string;
  readonly detail: string | undefined;
  /** The cure. */
  readonly hint: string | undefined;
  /** The HTTP status that says the same. */
  readonly status: number;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** The call may have been done: the connection broke before the answer came. */
  readonly outcomeUnknown: boolean;

  constructor(fault: Fault) {
    super(fault.message, fault.cause === undefined ? undefined : { cause: fault.cause });
    this.code = fault.code;
    this.name = fault.name;
    this.detail = fault.detail;
    this.hint = fault.hint;
    this.status = fault.status;
    this.retryable = fault.retryable;
    this.outcomeUnknown = fault.outcomeUnknown ?? false;
  }
}

/** An error for one of several callers that a call failed for: each gets one of its own. */
export function copyOf(error: unknown): unknown {
  return error instanceof WeirError ? new WeirError(error) : error;
}

/** Thrown by a handler: deliver the message again after a delay. */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter";

  constructor(
    readonly delayMs: number,
    reason = "asked to be retried",
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** Thrown by a handler: trying again is of no use, make the message a dead letter. */
export class Reject extends Error {
  override readonly name = "Reject";

  constructor(reason = "rejected", options?: ErrorOptions) {
    super(reason, options);
  }
}

/** Thrown by a handler: its time has not come; deliver the message after a delay, the attempt not counted. */
export class Snooze extends Error {
  override readonly name = "Snooze";

  constructor(readonly delayMs: number) {
    super(`snoozed for ${delayMs} ms`);
  }
}

/** The reason of a handler's signal when its job was cancelled. */
export class JobCancelled extends Error {
  override readonly name = "JobCancelled";
}

/** The reason of a handler's signal when its time is over. */
export class HandlerTimeout extends Error {
  override readonly name = "HandlerTimeout";
}

/** The reason of a handler's signal when its claim ended: somebody else may be at work on the message. */
export class ClaimLost extends Error {
  override readonly name = "ClaimLost";
}

/** The reason of a handler's signal when the worker stops without waiting for it. */
export class WorkerStopped extends Error {
  override readonly name = "WorkerStopped";
}

/** What is wrong before anything was asked of the engine. */
export function refuse(code: string, message: string, hint: string): WeirError {
  const info = codeInfos.get(code) ?? foreign(code);
  return new WeirError({ code, message, hint, ...info });
}

/** Makes a WeirError of what a driver threw. What is no failure of the call, such as a TypeError, stays as it is. */
export function fromDriver(error: unknown): unknown {
  if (error instanceof WeirError) return error;
  const chain = causes(error);
  const raised = chain.map(raisedBy).find((found) => found !== undefined);
  if (raised) return raised;
  return chain.some(fromProgram) ? error : disconnected(error, chain.some(beforeConnected));
}

/** The error, what caused it, and so on: wrappers such as those of query builders hide the driver's own. */
function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let e = error; e !== undefined && e !== null && !chain.includes(e); e = causeOf(e)) chain.push(e);
  return chain;
}

/** What caused an error; Prisma has it in `meta`. */
function causeOf(error: unknown): unknown {
  const { cause, meta } = error as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
  return cause ?? meta?.driverAdapterError;
}

/** What PostgreSQL raised, when this is it, as a WeirError. */
function raisedBy(error: unknown): WeirError | undefined {
  const from = reported(error);
  if (!from) return undefined;
  const { code } = from;
  const message = typeof from.message === "string" ? from.message : (error as Error).message;
  if (undefinedCodes.includes(code)) return refuse(Code.notSupported, message, hintOlder); // the statement is ours
  const info = codeInfos.get(code) ?? foreign(code);
  return new WeirError({
    code,
    message,
    detail: text(from.detail),
    hint: text(from.hint),
    ...info,
    cause: error,
  });
}

/** The fields of what PostgreSQL raised: those with a five-character code, here or in `meta`, where Prisma has it. */
function reported(error: unknown): (Record<string, unknown> & { code: string }) | undefined {
  const { meta, ...own } = fields(error);
  const from = isState(fields(meta).code) ? fields(meta) : own;
  const { code } = from;
  return isState(code) && (from !== own || own.severity !== undefined) ? { ...from, code } : undefined;
}

/** The SQLSTATE of what a driver threw; undefined when PostgreSQL did not raise it. */
export function sqlState(error: unknown): string | undefined {
  return causes(error)
    .map(reported)
    .find((found) => found !== undefined)?.code;
}

/** The own and inherited fields that matter; none for what is no object. */
function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) return {};
  const { code, severity, message, detail, hint, meta, syscall } = value as Record<string, unknown>;
  return { code, severity, message, detail, hint, meta, syscall };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isState(code: unknown): code is string {
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code);
}

/** Errors that a mistake in a program raises, and the end of an AbortSignal. */
function fromProgram(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError ||
    error instanceof ReferenceError ||
    (error as Error)?.name === "AbortError"
  );
}

/** Whether the call cannot have reached the server. */
function beforeConnected(error: unknown): boolean {
  const { syscall } = fields(error);
  if (error instanceof AggregateError) return error.errors.every(beforeConnected);
  return syscall === "connect" || syscall === "getaddrinfo";
}

/** Whether TLS cannot be agreed upon, which no retry changes: a wrong certificate, or a server that speaks none. */
function withoutTls(error: unknown): boolean {
  const code = String(fields(error).code ?? "");
  return /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/.test(code);
}

/** A connection that could not be made, or that broke. */
export function disconnected(cause: unknown, unmade: boolean): WeirError {
  if (withoutTls(cause)) return untrusted(cause);
  const reason =
    cause instanceof AggregateError ? String(cause.errors[0]) : String((cause as Error)?.message ?? cause);
  return new WeirError({
    code: unmade ? cannotConnect : connectionFailure,
    name: unmade ? "cannot_connect" : "connection_failure",
    message: unmade ? `cannot connect: ${reason}` : `the connection broke: ${reason}`,
    hint: unmade ? "Is the server running at that address?" : "Try again when the server is back.",
    status: 503,
    retryable: true,
    outcomeUnknown: !unmade,
    cause,
  });
}

/** A connection whose TLS cannot be. */
function untrusted(cause: unknown): WeirError {
  return new WeirError({
    code: cannotConnect,
    name: "cannot_connect",
    message: `cannot connect: ${(cause as Error).message}`,
    hint: "Correct the certificate, or what the DSN or the URL says of TLS.",
    status: 503,
    retryable: false,
    cause,
  });
}

/** Makes a WeirError of what fetch threw. */
export function fromFetch(error: unknown): unknown {
  const chain = causes(error);
  if (error instanceof WeirError || (error as Error)?.name === "AbortError" || chain.length < 2) return error;
  return disconnected(chain.at(-1), chain.some(beforeConnected));
}

/** Makes a WeirError of the answer of a server, which is a problem as RFC 9457 describes it, or comes from a proxy. */
export function fromProblem(status: number, body: string): WeirError {
  const problem = parseProblem(body);
  const code = text(problem.sqlstate) ?? (status >= 502 && status <= 504 ? connectionFailure : "XX000");
  return new WeirError({
    code,
    name: text(problem.name) ?? foreign(code).name,
    message: text(problem.detail) ?? `the server answered ${status}`,
    hint: text(problem.hint),
    status,
    retryable: typeof problem.retryable === "boolean" ? problem.retryable : foreign(code).retryable,
    outcomeUnknown: problem.sqlstate === undefined && status >= 502,
  });
}

/** The fields of a problem; none when the body is something else, such as a proxy's page. */
function parseProblem(body: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(body) };
  } catch {
    return {};
  }
}

/** Codes of PostgreSQL itself that have a name of their own here. */
const foreignCodes: Record<string, [name: string, status: number, retryable: boolean]> = {
  "42501": ["insufficient_privilege", 403, false],
  "57014": ["query_canceled", 503, true],
  "25006": ["read_only_sql_transaction", 503, true],
  "55P03": ["lock_not_available", 503, true],
  "54000": ["program_limit_exceeded", 413, false],
  "08001": ["cannot_connect", 503, true],
};

/** And their classes. */
const foreignClasses: Record<string, [name: string, status: number, retryable: boolean]> = {
  "08": ["connection_failure", 503, true],
  "22": ["data_exception", 400, false],
  "28": ["cannot_connect", 503, false],
  "3D": ["cannot_connect", 503, false],
  "40": ["transaction_rollback", 503, true],
  "53": ["insufficient_resources", 503, true],
  "57": ["operator_intervention", 503, true],
};

/** What is known of a code that is none of the engine's. */
function foreign(code: string): { name: string; status: number; retryable: boolean } {
  const [name, status, retryable] = foreignCodes[code] ??
    foreignClasses[code.slice(0, 2)] ?? ["database_error", 500, false];
  return { name, status, retryable };
}
