#!/usr/bin/env node
// Runs the program, which stands in the package of this platform.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

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
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // ^C at a terminal reaches the program, too, and a second one would end it at once.
    if (signal !== "SIGINT" || ![0, 1, 2].some(isatty)) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`weir: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
