// The adapter's side of the shootout's protocol for Node: see README.md.
//
// run() takes an object with some of these functions:
//   setup(c)                  install the system into c.dsn; returns its version
//   serve(c, ready)           run what the clients need; call ready(); return after c.stopped
//   producer(c)               for one producer: an async function that sends a list of messages
//   work(c, ledger, ready)    connect, await ready(), work, enter what comes; return after c.stopped
// What the system does not have throws Cannot.

import { once } from "node:events";
import { openSync, readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const COUNT_EVERY_MS = 20;
const RETRY_EVERY_MS = 50;
const RETRY_FOR_MS = 120_000;
const LETTERS = 1 << 18; // so many that no payload's are found again in what a compressor sees at once

const build = process.env.BUILD ?? ".";

/** Loads a package that the adapter's install put into its build folder. */
export const installed = createRequire(join(build, "package.json"));

/** The version of such a package. */
export const version = (name) =>
  JSON.parse(readFileSync(join(build, "node_modules", name, "package.json"), "utf8")).version;

/** The system has no such thing. */
export class Cannot extends Error {}

const say = (event) => process.stdout.write(JSON.stringify(event) + "\n");

/** The file that says which message was received when. */
class Ledger {
  count = 0;
  #file;

  constructor(directory) {
    this.#file = directory ? openSync(join(directory, `${process.pid}-${Date.now()}`), "w") : null;
  }

  /** Enters messages that were received together, now. */
  add(...numbers) {
    this.count += numbers.length;
    if (this.#file === null) return;
    const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
    const buffer = Buffer.alloc(16 * numbers.length);
    numbers.forEach((n, i) => {
      buffer.writeBigInt64LE(BigInt(n), 16 * i);
      buffer.writeBigInt64LE(now, 16 * i + 8);
    });
    writeSync(this.#file, buffer);
  }
}

/** Hands out numbers to the producers. */
class Pace {
  sent = 0;

  constructor(c) {
    this.c = c;
    this.next = c.first;
    this.ends = c.seconds && !c.rate ? c.startAt + 1000 * c.seconds : Infinity;
    this.last = c.count || c.rate ? c.first + (c.count || Math.floor(c.rate * c.seconds)) : Infinity;
  }

  async take() {
    const c = this.c;
    const first = this.next;
    this.next += c.batch;
    // The first batch is sent however late it is.
    const over = () => c.stopping || (first > c.first && Date.now() >= this.ends);
    if (over()) return [];
    if (c.rate) await sleepUntil(c.startAt + (1000 * (first - c.first)) / c.rate);
    const end = Math.min(first + c.batch, this.last);
    while (c.window && end > c.allowed) {
      if (over()) return [];
      await sleep(1);
    }
    return Array.from({ length: Math.max(0, end - first) }, (_, i) => message(c, first + i));
  }
}

/** Timers of Node have whole milliseconds: the rest is waited for in turns of the loop. */
async function sleepUntil(at) {
  const left = () => at - (performance.timeOrigin + performance.now());
  if (left() > 2) await sleep(left() - 1.5);
  while (left() > 0) await new Promise(setImmediate);
}

function message(c, n) {
  const free = Math.max(0, c.bytes - `{"n":${n},"v":""}`.length);
  const at = (n * free) % (LETTERS - free);
  return { n, key: c.keys ? `k${n % c.keys}` : null, payload: { n, v: c.letters.slice(at, at + free) } };
}

function letters(length) {
  let state = 1;
  const next = () => (state = (state * 48271) % 2147483647);
  return Array.from({ length }, () => String.fromCharCode(97 + (next() % 26))).join("");
}

/** Makes a call and, in a run in which something is killed, makes it again until the server is there. */
export async function insist(c, call) {
  for (const began = Date.now(); ; await sleep(RETRY_EVERY_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!c.lease_s || Date.now() - began > RETRY_FOR_MS) throw error;
    }
  }
}

async function produce(pace, send) {
  for (let batch = await pace.take(); batch.length > 0; batch = await pace.take()) {
    await insist(pace.c, () => send(batch));
    pace.sent += batch.length;
  }
}

async function act(adapter, c, begin) {
  if (!adapter[c.op === "send" ? "producer" : c.op]) throw new Cannot(`no ${c.op}`);
  switch (c.op) {
    case "setup":
      return say({ event: "done", version: await adapter.setup(c) });
    case "serve":
      await adapter.serve(c, (address = "") => say({ event: "ready", address }));
      return say({ event: "done" });
    case "send": {
      const sends = [];
      for (let i = 0; i < c.clients; i++) sends.push(await adapter.producer(c));
      await begin();
      const pace = new Pace(c);
      await Promise.all(sends.map((send) => produce(pace, send)));
      return say({ event: "done", count: pace.sent });
    }
    default: {
      const ledger = new Ledger(c.ledger);
      let last = 0;
      const telling = setInterval(() => {
        if (ledger.count !== last) say({ event: "count", count: (last = ledger.count) });
      }, COUNT_EVERY_MS);
      await adapter.work(c, ledger, begin);
      clearInterval(telling);
      return say({ event: "done", count: ledger.count });
    }
  }
}

/** Does what the driver says until it is done, and ends the process. */
export async function run(adapter) {
  const lines = createInterface({ input: process.stdin });
  const [first] = await once(lines, "line");
  const c = { ...JSON.parse(first), allowed: 0, stopping: false };
  c.letters = letters(LETTERS);
  let stop, start;
  c.stopped = new Promise((resolve) => (stop = resolve));
  const started = new Promise((resolve) => (start = resolve));
  const end = () => ((c.stopping = true), stop(), start());
  lines.on("close", end);
  lines.on("line", (line) => {
    const signal = JSON.parse(line);
    if (signal.op === "credit") c.allowed = signal.credit;
    else if (signal.op === "go") (c.startAt = signal.at / 1e6), start();
    else end();
  });
  const begin = async () => {
    say({ event: "ready" });
    await started;
    await sleepUntil(c.startAt ?? 0);
  };
  let code = 0;
  try {
    await act(adapter, c, begin);
  } catch (error) {
    say({ event: error instanceof Cannot ? "cannot" : "error", text: String(error) });
    code = error instanceof Cannot ? 0 : 1;
  }
  process.exitCode = code;
  process.stdout.write("", () => process.exit(code));
}
