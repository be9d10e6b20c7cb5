"""Drives procrastinate as https://procrastinate.readthedocs.io says."""

from __future__ import annotations

import asyncio
import importlib.metadata
import sys

import procrastinate
from procrastinate.exceptions import ConnectorException

from protocol import Cannot, run

RESTART_EVERY = 0.1  # seconds


def _app(c, size=None):
    connector = procrastinate.PsycopgConnector(conninfo=c.dsn, **({"min_size": 1, "max_size": size} if size else {}))
    app = procrastinate.App(connector=connector)

    @app.task(name="bench", queue="bench")
    async def bench(n, v):
        app.ledger.add(n)
        if c.perpetual:
            await bench.defer_async(n=n, v=v)

    app.bench = bench
    return app


async def setup(c):
    if c.groups:
        raise Cannot("no groups")
    async with _app(c).open_async() as app:
        await app.schema_manager.apply_schema_async()
    return importlib.metadata.version("procrastinate")


async def producer(c):
    app = _app(c, 1)
    await app.open_async()

    async def send(batch):
        # A lock is what it has for keys: jobs with one lock run one after the other.
        if len(batch) == 1:
            await app.bench.configure(lock=batch[0].key).defer_async(**batch[0].payload)
        elif c.keys:
            by_key = {}
            for m in batch:
                by_key.setdefault(m.key, []).append(m.payload)
            for key, payloads in by_key.items():
                await app.bench.configure(lock=key).batch_defer_async(*payloads)
        else:
            await app.bench.batch_defer_async(*(m.payload for m in batch))

    return send


async def rescue(c, app):
    """Retry the jobs of dead workers, as .../stable/howto/production/retry_stalled_jobs.html says, every second."""
    while True:
        await asyncio.sleep(1)
        try:
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=c.lease_s):
                await app.job_manager.retry_job(job)
        except ConnectorException:
            pass  # the server was killed


async def work(c, ledger, ready):
    best = c.setting == "best"
    # https://procrastinate.readthedocs.io/en/stable/howto/production/connections.html
    app = _app(c, max(5, c.clients + 2) if best else None)
    app.ledger = ledger
    options = {"concurrency": c.clients, "install_signal_handlers": False, "queues": ["bench"]}
    if best:
        # https://procrastinate.readthedocs.io/en/stable/howto/production/delete_finished_jobs.html; workers are notified
        # of jobs, and look by themselves as seldom as they do by default unless this says otherwise.
        options |= {"delete_jobs": "successful", "fetch_job_polling_interval": 0.05}
    if c.lease_s:
        options |= {"stalled_worker_timeout": float(c.lease_s), "update_heartbeat_interval": c.lease_s / 3}
    async with app.open_async():
        await ready()
        rescuing = asyncio.create_task(rescue(c, app)) if c.lease_s else None
        stop = asyncio.create_task(c.stop.wait())
        while not stop.done():
            worker = asyncio.create_task(app.run_worker_async(**options))
            await asyncio.wait({worker, stop}, return_when=asyncio.FIRST_COMPLETED)
            if worker.done() and not (c.lease_s and isinstance(worker.exception(), ConnectorException)):
                worker.result()
                break
            worker.cancel()  # finishes what runs
            await asyncio.wait({worker})
            if not stop.done():
                await asyncio.sleep(RESTART_EVERY)  # the server was killed
        if rescuing:
            rescuing.cancel()


run(sys.modules[__name__])
