/** What the README shows is compiled against the package, with what it leaves to its reader. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

const around = `
import assert from "node:assert/strict";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Knex } from "knex";
import type { Pool, PoolClient } from "pg";
import { Client, exactlyOnce, fromDrizzle, fromKnex, fromPrisma, type Handler } from "@weirmq/client";
import type { PrismaClient } from "../examples/generated/client.js";

type Order = { id: number; items: string[] };
type Queues = { orders: Order; mails: { order: number } };
declare const pool: Pool, connection: PoolClient, db: NodePgDatabase, knex: Knex, prisma: PrismaClient;
declare const runner: { query(text: string, params: unknown[]): Promise<{ rows: unknown[] }> };
declare const weir: Client<Queues>, order: Order, handler: Handler<Order>;
declare function pack(items: string[], options: { signal: AbortSignal }): Promise<void>;
declare function placeOrder(weir: Client<Queues>): Promise<void>;
`;

/** A program of the blocks: what they import at its top, the rest of each in a function. */
function program(blocks: string[]): string {
  const importing = /^import .*\n/gm;
  const imports = new Set(blocks.flatMap((text) => text.match(importing) ?? []));
  const bodies = blocks.map((text, i) => `async function block${i}() {\n${text.replace(importing, "")}}\n`);
  return [around, ...imports, ...bodies].join("");
}

test("the blocks of the README compile", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = ""]) => text);
  assert.equal(blocks.length, 10);
  await writeFile(join(root, "build", "readme.ts"), program(blocks));
  const options = "--noEmit --strict --skipLibCheck --module nodenext --target es2022 --types node".split(
    " ",
  );
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const said = await promisify(execFile)(tsc, [...options, join("build", "readme.ts")], { cwd: root }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  assert.equal(said, "");
});
