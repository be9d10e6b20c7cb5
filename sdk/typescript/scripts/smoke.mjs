// Packs the package, installs the tarball into an empty project as a user does, and sends and receives there, with
// types checked. WEIR_TEST_DSN names the database: run it with ../conformance/with-weir.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "weir-smoke-"));
const run = (program, ...args) =>
    execFileSync(program, args, { cwd: project, stdio: ["ignore", "pipe", "inherit"] });

try {
    execFileSync("npm", ["pack", "--silent", "--pack-destination", project], {
        cwd: root,
        stdio: ["ignore", "ignore", "inherit"],
    });
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    const tarball = run("sh", "-c", "ls *.tgz").toString().trim();
    run(
        "npm",
        "install",
        "--silent",
        "--prefer-offline",
        `./${tarball}`,
        "pg@8",
        "@types/pg@8",
        "@types/node@20",
    );
    cpSync(join(root, "examples", "orders.ts"), join(project, "orders.ts"));
    const strict = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    run(join(root, "node_modules", ".bin", "tsc"), ...strict, "orders.ts");
    const said = run(process.execPath, "orders.js").toString();
    if (!said.includes("packing tea")) throw new Error(`the example said: ${said}`);
    console.log(`${tarball}: packed, installed, type-checked, sent, handled`);
} finally {
    rmSync(project, { recursive: true, force: true });
}
