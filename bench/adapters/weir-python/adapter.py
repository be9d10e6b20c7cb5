"""Drives Weir's Python SDK and its worker as sdk/python/README.md says."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import weir

from protocol import run

QUEUE = "bench"


async def setup(c):
    subprocess.run([os.environ["BUILD"] + "/weir", "install", "--dsn", c.dsn], check=True, stdout=subprocess.DEVNULL)
    async with weir.connect_async(c.dsn) as client:
        await client.create_queue(QUEUE)
        for n in range(c.groups):
            await client.create_group(QUEUE, f"g{n}")
        if c.ordered:
            await client.create_group(QUEUE, "in-order", ordered=True)
        return await client.version()


SHARED = []  # the client of all producers


async def producer(c):
    if not SHARED:
        SHARED.append(weir.connect_async(c.dsn))
    [client] = SHARED

    async def send(batch):
        if len(batch) == 1:
            await client.send(QUEUE, batch[0].payload, key=batch[0].key)
        else:
            await client.send_batch(QUEUE, [weir.Outgoing(m.payload, m.key) for m in batch])

    return send


async def work(c, ledger, ready):
    async with weir.connect_async(c.dsn) as client:
        async def handle(message):
            ledger.add(message.payload["n"])
            if c.handler_ms:
                await asyncio.sleep(c.handler_ms / 1000)
            if c.perpetual:
                await client.send(QUEUE, message.payload)

        failures = []
        worker = weir.AsyncWorker(
            client,
            QUEUE,
            handle,
            group="in-order" if c.ordered else c.group or "default",
            concurrency=c.clients,
            lease=c.lease_s or 30,
            on_error=lambda error, _: failures.append(error),
        )
        await ready()
        async with worker:
            await c.stop.wait()
        if failures and not c.lease_s:  # a server that was killed is no failure of the run
            raise failures[0]


run(sys.modules[__name__])
