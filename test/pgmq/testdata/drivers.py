"""Uses PGMQ's own client by the drivers that client.py does not, and prints all that it was told, times apart."""

import asyncio
import inspect
import sys

from pgmq import AsyncPGMQueue, SQLAlchemyAsyncPGMQueue, SQLAlchemyPGMQueue

from plain import plain


async def say(name, what, call):
    try:
        told = call()
        told = await told if inspect.isawaitable(told) else told
        print(name, what, plain(told), flush=True)
    except Exception as e:
        print(name, what, type(e).__name__, str(e).split("\n")[0], flush=True)


async def use(name, queue):
    q = f"q_{name}"
    groups = [{"x-pgmq-group": "a"}, {"x-pgmq-group": "b"}]
    for what, call in {
        "create": lambda: queue.create_queue(q),
        "send": lambda: queue.send(q, {"no": 1}),
        "send headers": lambda: queue.send(q, {"no": 2}, headers={"h": "v"}),
        "send delay": lambda: queue.send(q, {"no": 3}, delay=2000),
        "send batch": lambda: queue.send_batch(q, [{"no": 4}, {"no": 5}], headers=groups),
        "read": lambda: queue.read(q, vt=1000),
        "read some": lambda: queue.read(q, vt=1000, qty=2),
        "read grouped": lambda: queue.read_grouped(q, vt=1000, qty=2),
        "set_vt": lambda: queue.set_vt(q, 1, 0),
        "set_vt some": lambda: queue.set_vt(q, [2, 3], 5000),
        "pop": lambda: queue.pop(q),
        "delete": lambda: queue.delete(q, 2),
        "delete some": lambda: queue.delete_batch(q, [2, 3]),
        "archive": lambda: queue.archive(q, 4),
        "archive some": lambda: queue.archive_batch(q, [4, 5]),
        "bind": lambda: queue.bind_topic("a.#", q),
        "send topic": lambda: queue.send_topic("a.b.c", {"no": 6}),
        "notify": lambda: queue.enable_notify(q, throttle_interval_ms=5),
        "throttles": lambda: queue.list_notify_throttles(),
        "metrics": lambda: queue.metrics(q),
        "nowhere": lambda: queue.read("none", vt=1),
        "purge": lambda: queue.purge(q),
        "drop": lambda: queue.drop_queue(q),
    }.items():
        await say(name, what, call)


async def main():
    settings = {"conn_string": sys.argv[1], "init_extension": False, "pool_size": 2}
    for name, make in {
        "asyncpg": AsyncPGMQueue,
        "sqlalchemy": SQLAlchemyPGMQueue,
        "sqlalchemy-async": SQLAlchemyAsyncPGMQueue,
    }.items():
        queue = make(**settings)
        if hasattr(queue, "init"):
            await queue.init()
        await use(name.replace("-", "_"), queue)
        closed = queue.close() if hasattr(queue, "close") else queue.dispose()
        if inspect.isawaitable(closed):
            await closed


asyncio.run(main())
