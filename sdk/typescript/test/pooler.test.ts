/** Behind PgBouncer, which hands every transaction another session. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import pg from "pg";
import { Client, connect, exactlyOnce } from "../src/index.js";
import { clientOf, dsn, freePort, newQueue, until } from "./setup.js";

/** Starts PgBouncer in transaction mode with two sessions, and returns the DSN that leads through it. */
async function bouncer(t: TestContext): Promise<string> {
  const path = `${process.env.PATH}:/usr/sbin`;
  const there = spawnSync("pgbouncer", ["--version"], { env: { ...process.env, PATH: path } });
  assert.equal(
    there.status,
    0,
    "there is no pgbouncer: `make sdk-typescript` installs it on Debian when run as root",
  );
  const at = new URL(dsn);
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), "weir-bouncer-"));
  chmodSync(dir, 0o755);
  const [config, users] = [join(dir, "pgbouncer.ini"), join(dir, "users.txt")];
  writeFileSync(users, `"${at.username}" "${decodeURIComponent(at.password)}"\n`);
  writeFileSync(
    config,
    `[databases]
* = host=${at.hostname} port=${at.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 2
max_client_conn = 50
`,
  );
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : []; // it refuses to run as root
  const child = spawn("pgbouncer", [...user, config], {
    env: { ...process.env, PATH: path },
    stdio: "ignore",
  });
  t.after(() => {
    child.kill("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  });
  at.host = `127.0.0.1:${port}`;
  await until("PgBouncer answers", async () => {
    const client = await connect(at.href, { retry: { retries: 0 } });
    const version = await client.version().catch(() => undefined);
    await client.close();
    return version;
  });
  return at.href;
}

test("behind PgBouncer in transaction mode all works, and the worker knows that it cannot listen", async (t) => {
  const pool = new pg.Pool({ connectionString: await bouncer(t), max: 2 });
  t.after(() => pool.end());
  const weir = new Client(pool);
  const direct = await clientOf(t, dsn);
  const queue = await newQueue(t, direct);
  const next = await newQueue(t, direct);
  const handler = exactlyOnce(async ({ payload }, { tx }) => tx.send(next, payload));
  const errors: unknown[] = [];
  const worker = weir.worker(queue, handler, { onError: (error) => errors.push(error) });
  const running = worker.run();
  t.after(() => worker.stop());
  for (let payload = 0; payload < 20; payload++) await weir.send(queue, payload);
  await weir.sendBatch(
    queue,
    Array.from({ length: 20 }, (_, i) => ({ payload: 20 + i })),
  );
  const got: number[] = [];
  await until("all have been handed on", async () => {
    for (const { payload } of await weir.pop(next, { max: 100 })) got.push(payload as number);
    return got.length === 40;
  });
  await worker.stop();
  await running;
  assert.deepEqual(
    got.toSorted((a, b) => a - b),
    Array.from({ length: 40 }, (_, i) => i),
  );
  assert.deepEqual(errors, []);
  assert.equal(worker.health().listening, false);
  const left = "select count(*)::int as n from pg_listening_channels()";
  assert.deepEqual((await pool.query(left)).rows, [{ n: 0 }], "no session is left listening for nobody");
});
