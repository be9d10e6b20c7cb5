"""Drives awa as https://github.com/hardbyte/awa/blob/main/docs/getting-started-python.md says."""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import dataclass

import awa

from protocol import Cannot, run

# https://github.com/hardbyte/awa/blob/main/docs/configuration.md: "size max_workers for durable completion latency", and
# for one hot queue "enqueue_shards = 4 is the change that turns overload into bounded end-to-end throughput".
BEST_WORKERS = 1024
WORKERS = 50  # the default that the same page gives
SHARDS = 4
SET_SHARDS = f"insert into awa.queue_meta (queue, enqueue_shards) values ('bench', {SHARDS}) " \
    "on conflict (queue) do update set enqueue_shards = excluded.enqueue_shards"
# The first sends to a shard make its sequences, and fail when they do so at once, which is no part of what is measured.
MAKE_SEQUENCES = "select awa.ensure_lane_sequences('bench', 2::smallint, shard::smallint) " \
    "from generate_series(0, {} - 1) shard"


@dataclass
class Bench:
    """A message."""

    n: int
    v: str


async def setup(c):
    if c.groups or c.keys:
        raise Cannot("no groups; order within a shard of a queue, which is not per key")
    client = awa.AsyncClient(c.dsn)
    await client.migrate()
    await client.install_queue_storage(schema="awa")  # what `awa migrate` does on a fresh database
    best = c.setting == "best"
    async with await client.transaction() as tx:
        if best:
            await tx.execute(SET_SHARDS)
        await tx.execute(MAKE_SEQUENCES.format(SHARDS if best else 1))
    await client.close()
    return importlib.metadata.version("awa-pg")


async def producer(c):
    client = awa.AsyncClient(c.dsn, max_connections=2)

    async def send(batch):
        jobs = [Bench(**m.payload) for m in batch]
        if len(jobs) == 1:
            await client.insert(jobs[0], queue="bench")
        elif c.setting == "best":
            await client.enqueue_many_copy(jobs, queue="bench")
        else:
            await client.insert_many_copy(jobs, queue="bench")

    return send


async def work(c, ledger, ready):
    most = BEST_WORKERS if c.setting == "best" else WORKERS
    workers = c.clients if c.perpetual else max(c.clients, most)
    client = awa.AsyncClient(c.dsn, max_connections=20)

    @client.task(Bench, queue="bench")
    async def bench(job):
        ledger.add(job.args.n)
        if c.perpetual:
            await client.insert(job.args, queue="bench")

    await ready()
    options = {"poll_interval_ms": 10} if c.setting == "best" else {}
    if c.lease_s:
        options |= {"heartbeat_staleness_ms": 1000 * c.lease_s, "heartbeat_interval_ms": 300 * c.lease_s,
                    "heartbeat_rescue_interval_ms": 500}
    await client.start([("bench", workers)], **options)
    await c.stop.wait()
    await client.shutdown(timeout_ms=10_000)


run(sys.modules[__name__])
