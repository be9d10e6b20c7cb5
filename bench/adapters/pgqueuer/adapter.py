"""Drives pgqueuer as https://pgqueuer.readthedocs.io says; on uvloop, as its own command line does."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys
from datetime import timedelta

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.domain.settings import DBSettings, Durability
from pgqueuer.queries import Queries

from protocol import Cannot, run

MANAGERS_MAX = 5  # https://pgqueuer.readthedocs.io/en/latest/comparisons/benchmarks/: --dequeue 5
BATCH = 100  # .../guides/performance-tuning/: "Increase batch_size when jobs are short-lived"


async def setup(c):
    if c.groups or c.keys:
        raise Cannot("no groups, no keys in order")
    connection = await asyncpg.connect(c.dsn)
    queries = Queries(AsyncpgDriver(connection))
    await queries.install()
    if c.setting == "best":
        # https://pgqueuer.readthedocs.io/en/latest/guides/performance-tuning/: the jobs stay logged, and so durable.
        await queries.optimize_autovacuum()
        queries.qbe.settings = DBSettings(durability=Durability.balanced)
        await queries.alter_durability()
    await connection.close()
    return importlib.metadata.version("pgqueuer")


async def producer(c):
    queries = Queries(AsyncpgDriver(await asyncpg.connect(c.dsn)))

    async def send(batch):
        if len(batch) == 1:
            await queries.enqueue("bench", json.dumps(batch[0].payload).encode())
            return
        n = len(batch)
        await queries.enqueue(["bench"] * n, [json.dumps(m.payload).encode() for m in batch], [0] * n)

    return send


async def work(c, ledger, ready):
    best = c.setting == "best"
    managers = []
    for _ in range(min(c.clients, MANAGERS_MAX) if best else 1):
        pgq = PgQueuer(AsyncpgDriver(await asyncpg.connect(c.dsn)))

        @pgq.entrypoint("bench")
        async def bench(job, queries=pgq.qm.queries):
            ledger.add(json.loads(job.payload)["n"])
            if c.perpetual:
                await queries.enqueue("bench", job.payload)

        managers.append(pgq.qm)
    await ready()
    options = {"batch_size": BATCH} if best else {}
    if c.lease_s:
        options["heartbeat_timeout"] = timedelta(seconds=c.lease_s)
    tasks = [asyncio.create_task(qm.run(**options)) for qm in managers]
    stop = asyncio.create_task(c.stop.wait())
    await asyncio.wait({*tasks, stop}, return_when=asyncio.FIRST_COMPLETED)
    for qm in managers:
        qm.shutdown.set()
    await asyncio.gather(*tasks)


asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
run(sys.modules[__name__])
