/** Rows of Prisma and messages in one transaction: an order is stored and sent, or neither. Run: WEIR_DSN=... */

import { PrismaPg } from "@prisma/adapter-pg";
import { Client, Code, exactlyOnce, fromPrisma, WeirError } from "@weirmq/client";
import { PrismaClient } from "./generated/client.js";

type Queues = { orders: { id: number } };

const connectionString = process.env.WEIR_DSN ?? "postgres://localhost/shop";
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) });
const weir = new Client<Queues>(fromPrisma(prisma));
await weir.createQueue("orders");

/** Stores an order and sends it on. */
async function place(id: number, items: string[]): Promise<void> {
  await prisma.$transaction(async (tx) => {
    await tx.order.create({ data: { id, items } });
    await weir.in(fromPrisma(tx)).send("orders", { id });
    if (items.length === 0) throw new Error("an order of nothing");
  });
}

await place(1, ["tea"]);
await place(2, []).catch((error: Error) => console.log(`2: ${error.message}`));
await place(3, ["milk", "sugar"]);

// What a handler writes in the transaction of the ack: here by SQL, for Prisma joins no transaction that others began.
const packing = exactlyOnce<Queues["orders"], Queues>(async ({ payload }, { db }) => {
  await db.query("update orders set packed = true where id = $1::int", [payload.id]);
  console.log(`packed ${payload.id}`);
  if (payload.id === 3) setImmediate(() => worker.stop()); // only because this is an example
});
const worker = weir.worker("orders", packing, { concurrency: 1 });
await worker.run();
console.log(await prisma.order.count({ where: { packed: true } }), "are packed");

await weir.in(fromPrisma(prisma)).dropQueue("orders");
const gone = await weir.send("orders", { id: 4 }).catch((error: unknown) => error);
console.log(gone instanceof WeirError && gone.code === Code.queueNotFound ? gone.name : gone);
await prisma.$disconnect();
