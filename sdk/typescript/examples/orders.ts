/** Plain Node: sends an order in a transaction of one's own, and handles it. Run with WEIR_DSN. */

import { Client } from "@weirmq/client";
import pg from "pg";

type Queues = { orders: { id: number; items: string[] } };

const pool = new pg.Pool({ connectionString: process.env.WEIR_DSN ?? "postgres://localhost/shop" });
const weir = new Client<Queues>(pool);
await weir.createQueue("orders");
await pool.query("create table if not exists orders (id int primary key)");

const connection = await pool.connect();
await connection.query("begin");
await connection.query("insert into orders values (1)");
await weir.in(connection).send("orders", { id: 1, items: ["tea"] });
await connection.query("commit");
connection.release();

const worker = weir.worker("orders", async ({ payload }) => {
  console.log(`packing ${payload.items.join(", ")}`);
  setImmediate(() => worker.stop()); // only because this is an example
});
await worker.run();
await pool.end();
