/** Sends an order, and handles it. Run with a database that has the engine: node orders.js, DSN in WEIR_TEST_DSN. */

import { connect } from "@weirmq/client";

type Queues = { orders: { id: number; items: string[] } };

const weir = await connect<Queues>(process.env.WEIR_TEST_DSN ?? "postgres://localhost/shop");
await weir.createQueue("orders");
await weir.send("orders", { id: 1, items: ["tea"] });

const worker = weir.worker("orders", async ({ payload }) => {
  console.log(`packing ${payload.items.join(", ")}`);
  setImmediate(() => worker.stop()); // only because this is an example
});
await worker.run();
await weir.close();
