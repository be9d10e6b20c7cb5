// Drives Weir's TypeScript SDK and its worker as sdk/typescript/README.md says.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "../protocol.mjs";

const sdk = join(process.env.BUILD, "node_modules", "@weirmq", "client", "dist", "index.js");
const { connect } = await import(pathToFileURL(sdk));
const queue = "bench";
let shared; // the client of all producers

run({
  async setup(c) {
    execFileSync(join(process.env.BUILD, "weir"), ["install", "--dsn", c.dsn], { stdio: "ignore" });
    const weir = await connect(c.dsn);
    await weir.createQueue(queue);
    for (let n = 0; n < c.groups; n++) await weir.createGroup(queue, `g${n}`);
    if (c.ordered) await weir.createGroup(queue, "in-order", { ordered: true });
    const version = await weir.version();
    await weir.close();
    return version;
  },

  async producer(c) {
    shared ??= connect(c.dsn);
    const weir = await shared;
    return ([first, ...more]) => {
      const key = first.key ?? undefined;
      if (more.length === 0) return weir.send(queue, first.payload, { key });
      const batch = [first, ...more].map((m) => ({ payload: m.payload, key: m.key ?? undefined }));
      return weir.sendBatch(queue, batch);
    };
  },

  async work(c, ledger, ready) {
    const weir = await connect(c.dsn);
    const failures = [];
    const handle = async ({ payload }) => {
      ledger.add(payload.n);
      if (c.handler_ms) await new Promise((resolve) => setTimeout(resolve, c.handler_ms));
      if (c.perpetual) await weir.send(queue, payload);
    };
    const worker = weir.worker(queue, handle, {
      group: c.ordered ? "in-order" : c.group || "default",
      concurrency: c.clients,
      ...(c.lease_s ? { leaseMs: 1000 * c.lease_s } : {}),
      onError: (error) => failures.push(error),
    });
    await ready();
    const running = worker.run();
    await c.stopped;
    await worker.stop();
    await running;
    await weir.close();
    if (failures.length > 0 && !c.lease_s) throw failures[0]; // a server that was killed is no failure of the run
  },
});
