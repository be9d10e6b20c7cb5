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

RESTART_EVERY = 0.1  # seconds
MANAGERS_MAX = 5  # https://pgqueuer.readthedocs.io/en/latest/comparisons/benchmarks/: --dequeue 5
BATCH = 100  # https://pgqueuer.readthedocs.io/en/latest/guides/performance-tuning/#batch-size: more for short jobs


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
    connection = await asyncpg.connect(c.dsn)

    async def send(batch):
        nonlocal connection
        if connection.is_closed():
            connection = await asyncpg.connect(c.dsn)
        queries = Queries(AsyncpgDriver(connection))
        if len(batch) == 1:
            await queries.enqueue("bench", json.dumps(batch[0].payload).encode())
            return
        n = len(batch)
        await queries.enqueue(["bench"] * n, [json.dumps(m.payload).encode() for m in batch], [0] * n)

    return send


async def manager(c, ledger):
    pgq = PgQueuer(AsyncpgDriver(await asyncpg.connect(c.dsn)))

    @pgq.entrypoint("bench")
    async def bench(job):
        ledger.add(json.loads(job.payload)["n"])
        if c.perpetual:
            await pgq.qm.queries.enqueue("bench", job.payload)

    return pgq.qm


async def run_manager(c, ledger, qm):
    """Run a manager, and where something is killed another when it fails: `pgq run --restart-on-failure`."""
    options = {"batch_size": BATCH} if c.setting == "best" else {}
    if c.lease_s:
        options["heartbeat_timeout"] = timedelta(seconds=c.lease_s)
    while not c.stop.is_set():
        running = asyncio.create_task(qm.run(**options))
        stop = asyncio.create_task(c.stop.wait())
        await asyncio.wait({running, stop}, return_when=asyncio.FIRST_COMPLETED)
        qm.shutdown.set()
        try:
            await running
            return
        except Exception:
            if not c.lease_s:
                raise
        while c.lease_s and not c.stop.is_set():
            try:
                qm = await manager(c, ledger)
                break
            except (OSError, asyncpg.PostgresError):
                await asyncio.sleep(RESTART_EVERY)


async def work(c, ledger, ready):
    count = min(c.clients, MANAGERS_MAX) if c.setting == "best" else 1
    managers = [await manager(c, ledger) for _ in range(count)]
    await ready()
    await asyncio.gather(*(run_manager(c, ledger, qm) for qm in managers))


asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
run(sys.modules[__name__])
