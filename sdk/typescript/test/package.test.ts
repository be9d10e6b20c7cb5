/** What npm packs is installed in an empty project, and what the README begins with is compiled and run there. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { clientOf, dsn, newDatabase } from "./setup.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

// What the README leaves to its reader. The program ends as it would in a deployment.
const rest = `
async function pack(items: string[], { signal }: { signal: AbortSignal }): Promise<void> {
  console.log("packing", items.join(), signal.aborted);
  process.kill(process.pid, "SIGTERM");
}
await weir.close();
`;

/** Runs a program of the project and returns what it printed. */
async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd });
  return stdout;
}

/** An empty project with the packed package and what it is used with, in the versions that are here. */
async function project(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "weir-package-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await run(root, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", dir);
  const tarball = (await readdir(dir)).find((name) => name.endsWith(".tgz"));
  await writeFile(join(dir, "package.json"), '{ "type": "module" }');
  const { packages } = createRequire(import.meta.url)(join(root, "package-lock.json"));
  const beside = ["pg", "@types/pg", "@types/node", "typescript"].map(
    (name) => `${name}@${packages[`node_modules/${name}`].version}`,
  );
  const quiet = ["--silent", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await run(dir, "npm", "install", ...quiet, `./${tarball}`, ...beside);
  return dir;
}

test("the package has the version of the engine", async (t) => {
  const { version } = createRequire(import.meta.url)(join(root, "package.json"));
  assert.equal(await (await clientOf(t, dsn)).version(), version);
});

test("the packed package is installed, type-checked and run as the README begins", async (t) => {
  const own = await newDatabase(t);
  const dir = await project(t);
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, beginning = ""] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  assert.ok(beginning.includes("postgres://localhost/shop"), "the README begins with a program");
  await writeFile(
    join(dir, "shop.ts"),
    beginning.replace("postgres://localhost/shop", own.dsn.replaceAll("$", "$$$$")) + rest,
  );
  const strict = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
  assert.equal(await run(dir, join("node_modules", ".bin", "tsc"), ...strict, "shop.ts"), "");
  assert.equal(await run(dir, process.execPath, "shop.js"), "packing tea false\n");
});
