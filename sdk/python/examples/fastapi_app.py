"""A web server that sends messages with its own rows, and works on them beside its requests.

WEIR_DSN=$(weir dsn) uvicorn fastapi_app:app
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import fastapi
import pydantic

import weir

QUEUE = os.environ.get("QUEUE", "orders")


class Order(pydantic.BaseModel):
    """What a customer orders."""

    id: int
    items: list[str]


packed: list[int] = []


async def pack(message: weir.Message[Order]) -> None:
    """Handle one order."""
    packed.append(message.payload.id)


@asynccontextmanager
async def lifespan(app: fastapi.FastAPI) -> AsyncIterator[None]:
    """Work while the server runs; stop softly with it."""
    async with weir.connect_async(os.environ["WEIR_DSN"]) as client, weir.AsyncWorker(client, QUEUE, pack):
        app.state.weir = client
        yield


app = fastapi.FastAPI(lifespan=lifespan)


@app.post("/orders", status_code=202)
async def place(order: Order) -> dict[str, int]:
    """Accept an order; a row written with ``tx.connection`` would commit together with the message."""
    async with app.state.weir.transaction() as tx:
        return {"message": await tx.send(QUEUE, order, key=str(order.id))}


@app.get("/packed")
async def list_packed() -> list[int]:
    """List what was packed."""
    return packed
