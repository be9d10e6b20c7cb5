/**
 * An application of NestJS: an order is stored and sent in one transaction, and a worker that starts and stops with the
 * application packs it, exactly once. Run with WEIR_DSN, perhaps PORT; SIGTERM lets handlers end.
 */

import "reflect-metadata";
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleInit } from "@nestjs/common";
import { Body, Controller, Get, Injectable, Module, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Client, exactlyOnce, type Worker } from "@weirmq/client";
import pg from "pg";

type Order = { id: number; items: string[] };
type Queues = { orders: Order };

/** The database and the queues, to be injected. */
@Injectable()
class Shop implements OnModuleInit {
  readonly pool = new pg.Pool({ connectionString: process.env.WEIR_DSN ?? "postgres://localhost/shop" });
  readonly weir = new Client<Queues>(this.pool);

  async onModuleInit(): Promise<void> {
    await this.pool.query("create table if not exists orders (id int primary key, packed boolean not null)");
    await this.weir.createQueue("orders");
  }
}

/** Works beside the requests, here in the same process; in another it needs a module of its own and no listen. */
@Injectable()
class Packing implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly worker: Worker<Order, Queues>;

  constructor(private readonly shop: Shop) {
    const pack = exactlyOnce<Order, Queues>(async ({ payload }, { db }) => {
      await db.query("update orders set packed = true where id = $1", [payload.id]);
    });
    this.worker = shop.weir.worker("orders", pack);
  }

  onApplicationBootstrap(): void {
    // It ends with an error only when it cannot begin, as when there is no such queue.
    this.worker.run().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.stop();
    await this.shop.pool.end();
  }
}

@Controller()
class Orders {
  constructor(private readonly shop: Shop) {}

  @Post("orders")
  async place(@Body() order: Order): Promise<{ message: string }> {
    return this.shop.weir.transaction(async (tx, db) => {
      await db.query("insert into orders values ($1, false)", [order.id]);
      return { message: await tx.send("orders", order) };
    });
  }

  @Get("packed")
  async packed(): Promise<number[]> {
    const { rows } = await this.shop.pool.query("select id from orders where packed order by id");
    return rows.map((row: { id: number }) => row.id);
  }
}

@Module({ controllers: [Orders], providers: [Shop, Packing] })
class Application {}

const app = await NestFactory.create(Application);
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
console.log(`listens on ${await app.getUrl()}`);
