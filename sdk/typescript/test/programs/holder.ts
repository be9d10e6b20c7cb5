/** A worker as a process, to be killed or frozen: node holder.js DSN QUEUE LEASE_MS. It says what it does. */

import { connect } from "../../src/index.js";

const [dsn = "", queue = "", leaseMs = ""] = process.argv.slice(2);
const weir = await connect(dsn);
const worker = weir.worker(
  queue,
  async (message, { signal }) => {
    console.log(`holds ${message.id}`);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    console.log(`told ${signal.reason.name}`);
  },
  { leaseMs: Number(leaseMs), onError: () => {} },
);
await worker.run();
