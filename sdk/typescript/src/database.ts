/** What a database has to be able to do, and how to make such a thing of the libraries that people use. */

import { createHash } from "node:crypto";
import { refuse, sqlState } from "./errors.js";

/** A row with columns by name. */
export type Row = Record<string, unknown>;

/**
 * Anything that runs a statement with parameters $1, $2 ...: a Pool, PoolClient or Client of pg, PGlite and its
 * transactions, or a function of your own. Only texts and nulls are passed, and columns are texts, numbers and
 * booleans, so type parsers of the driver do not matter.
 */
export interface Queryable {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each driver has its own type of parameters and rows
  query(text: string, params: any[]): Promise<{ rows: any[] } | any[]>;
}

/** A database that also hands out transactions. */
export interface Transactional extends Queryable {
  transaction<R>(fn: (tx: Queryable) => Promise<R>): Promise<R>;
}

/** A connection of a pool. */
export interface PoolConnection extends Queryable {
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** The pool of pg, as far as it matters here. */
export interface PoolLike extends Queryable {
  connect(): Promise<PoolConnection>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  listenerCount(event: "error"): number;
  readonly options?: unknown;
}

const backend = "select pg_backend_pid() as pid";
const begin = "begin";
const commit = "commit";
const rollback = "rollback";

/** Whether a database is pg's Pool. */
export function isPool(db: Queryable): db is PoolLike {
  return "totalCount" in db && "connect" in db;
}

/** Runs a statement and returns its rows. */
export async function rowsOf(
  db: Queryable,
  text: string,
  params: readonly (string | null)[],
): Promise<Row[]> {
  const result = await db.query(text, [...params]);
  return Array.isArray(result) ? result : result.rows;
}

/** A statement, and the name under which connections prepare it. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Names a statement, by its text: another release of this package in the same process may have another one. */
export function prepared(text: string): Statement {
  return { name: `weir_${createHash("sha1").update(text).digest("hex")}`, text };
}

/** Whether a connection keeps what it prepares: no pooler stands between, which makes up the process ids it tells. */
const keeps = new WeakMap<object, boolean>();

/** Runs a statement that comes often: prepared, on connections of pg where that lasts. */
export async function rowsOfOften(
  db: Queryable,
  statement: Statement,
  params: readonly (string | null)[],
): Promise<Row[]> {
  if (!isPool(db))
    return "processID" in db ? byName(db, statement, params) : rowsOf(db, statement.text, params);
  const lent = await lend(db);
  let broken: Error | undefined;
  try {
    return await byName(lent.connection, statement, params);
  } catch (error) {
    if (/^(?:|57P..|08...)$/.test(sqlState(error) ?? "")) broken = error as Error;
    throw error;
  } finally {
    lent.giveBack(broken);
  }
}

/** A connection of a pool. That it breaks, the statement under way tells; nobody needs to listen for it. */
async function lend(pool: PoolLike) {
  const connection = await pool.connect();
  const ignore = () => {};
  connection.on("error", ignore);
  const giveBack = (broken: Error | undefined) => {
    connection.removeListener("error", ignore);
    connection.release(broken);
  };
  return { connection, giveBack };
}

/** Runs a statement on a connection of pg by its name, where that lasts. */
async function byName(
  connection: Queryable,
  { name, text }: Statement,
  params: readonly (string | null)[],
): Promise<Row[]> {
  if (!(keeps.get(connection) ?? (await meet(connection)))) return rowsOf(connection, text, params);
  const { query } = connection as unknown as { query(config: object): Promise<{ rows: Row[] }> };
  return (await query.call(connection, { name, text, values: params })).rows;
}

/** Asks whether a connection keeps what it prepares. */
async function meet(connection: Queryable): Promise<boolean> {
  const [row] = await rowsOf(connection, backend, []);
  const { processID } = connection as { processID?: number | null };
  const direct = processID === Number(row?.pid);
  keeps.set(connection, direct);
  return direct;
}

/** Runs fn in a transaction of its own, committed when it returns and rolled back when it throws. */
export async function transaction<R>(db: Queryable, fn: (tx: Queryable) => Promise<R>): Promise<R> {
  if (isPool(db)) return pooled(db, fn);
  if ("transaction" in db) return (db as Transactional).transaction(fn);
  throw refuse(
    "0A000",
    "this connection cannot begin a transaction, for other calls may share it",
    "Make the client of a pool, or begin the transaction yourself and call client.in(connection).",
  );
}

/** A transaction on a connection of a pool. A connection on which it could not be ended does not go back. */
async function pooled<R>(pool: PoolLike, fn: (tx: Queryable) => Promise<R>): Promise<R> {
  const { connection, giveBack } = await lend(pool);
  let broken: Error | undefined;
  try {
    await connection.query(begin, []);
    const result = await fn(connection);
    const ended = await connection.query(commit, []);
    if ("command" in ended && ended.command === "ROLLBACK") throw rolledBack();
    return result;
  } catch (error) {
    await connection.query(rollback, []).catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    giveBack(broken);
  }
}

/** PostgreSQL answers the commit of a transaction in which a statement failed with a rollback, and no error. */
function rolledBack() {
  return refuse(
    "25P02",
    "the transaction was rolled back, because a statement in it had failed",
    "Let the error of a statement end the transaction's function; do not catch it there.",
  );
}

/** The error of who begins a transaction within one. */
export function nested() {
  return refuse("0A000", "a transaction has no transactions within it", "Call what is needed on it.");
}

/** A second pool to the same database, so that calls need not wait for the connections of the first. */
export function poolBeside(pool: PoolLike, max: number): PoolLike {
  const options = pool.options as Record<string, unknown>;
  const Pool = pool.constructor as new (options: object) => PoolLike;
  // pg hides the password from enumeration
  return new Pool({ ...options, password: options.password, max, min: 0 });
}

/** What Knex's `knex` and its transactions have. */
export interface KnexLike {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Knex's own types
  raw(sql: string, bindings: any): PromiseLike<any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Knex's own types
  transaction(fn: (trx: any) => Promise<unknown>): Promise<any>;
}

/** Makes a database of a Knex instance or transaction. */
export function fromKnex(knex: KnexLike): Transactional {
  return {
    query: async (text, params) => knex.raw(text.replace(/\$\d+/g, "?"), params),
    transaction: async (fn) => knex.transaction((trx: KnexLike) => fn(fromKnex(trx))),
  };
}

/** What a database and a transaction of Drizzle have. */
export interface DrizzleLike {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Drizzle's own types
  execute(query: any): PromiseLike<any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Drizzle's own types
  transaction(fn: (tx: any) => Promise<any>): Promise<any>;
}

/** What Drizzle's `sql` has. */
export interface DrizzleSql {
  raw(text: string): unknown;
  param(value: unknown): unknown;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Drizzle's own types
  join(chunks: any[]): unknown;
}

/** Makes a database of a Drizzle database or transaction and Drizzle's `sql`. */
export function fromDrizzle(drizzle: DrizzleLike, sql: DrizzleSql): Transactional {
  return {
    query: async (text, params) => {
      const pieces = text.split(/\$\d+/).map((piece) => sql.raw(piece));
      return drizzle.execute(
        sql.join(pieces.flatMap((p, i) => (i === 0 ? [p] : [sql.param(params[i - 1]), p]))),
      );
    },
    transaction: async (fn) => drizzle.transaction((tx: DrizzleLike) => fn(fromDrizzle(tx, sql))),
  };
}

/** What Prisma's client has, and, without $transaction, its transactions. */
export interface PrismaLike {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Prisma's own types
  $queryRawUnsafe(text: string, ...params: any[]): PromiseLike<any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Prisma's own types
  $transaction?(fn: (tx: any) => Promise<any>): Promise<any>;
}

/** Makes a database of a Prisma client or of a transaction that it hands to a function. */
export function fromPrisma(prisma: PrismaLike): Transactional {
  return {
    query: async (text, params) => prisma.$queryRawUnsafe(text, ...params),
    transaction: async (fn) => {
      if (!prisma.$transaction) throw nested();
      return prisma.$transaction((tx: PrismaLike) => fn(fromPrisma(tx)));
    },
  };
}
