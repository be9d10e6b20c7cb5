#!/usr/bin/env node
// Runs the program, which stands in the package of this platform.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@weirmq/cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/weir`);
} catch {
  console.error(`weir: the package ${name} is not installed. npm leaves it out with --omit=optional, and where`);
  console.error("node_modules comes from another kind of machine: install @weirmq/cli here, without that option.");
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Whoever stops this process means the program, which may take its time. One that got ^C itself bears a second one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`weir: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
