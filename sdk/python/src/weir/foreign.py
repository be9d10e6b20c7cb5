"""Finds the driver's connection behind what callers have: psycopg's own, SQLAlchemy's, Django's."""

from __future__ import annotations

from typing import Any

import psycopg


def async_driver_needed(tx: Any) -> TypeError:
    """Say what an AsyncClient can join."""
    return TypeError(
        f"cannot join the transaction of {type(tx).__name__}: pass a psycopg.AsyncConnection or AsyncCursor, or a "
        "SQLAlchemy AsyncSession or AsyncConnection on postgresql+psycopg"
    )


async def async_connection(tx: Any) -> psycopg.AsyncConnection[Any]:
    """Return the connection whose transaction ``tx`` stands for."""
    if isinstance(tx, psycopg.AsyncConnection):
        return tx
    if isinstance(tx, psycopg.AsyncCursor):
        return tx.connection
    if hasattr(tx, "get_raw_connection"):  # sqlalchemy.ext.asyncio.AsyncConnection
        if not tx.in_transaction():
            await tx.begin()  # else its commit would pass over what it has not seen
        raw = await tx.get_raw_connection()
        return await async_connection(raw.driver_connection)
    if hasattr(tx, "sync_session"):  # sqlalchemy.ext.asyncio.AsyncSession
        return await async_connection(await tx.connection())
    raise async_driver_needed(tx)


def sync_connection(tx: Any) -> Any:
    """Return the connection whose transaction ``tx`` stands for: psycopg's, or any of DB-API with ``%s`` places."""
    if isinstance(tx, psycopg.Connection):
        return tx
    if hasattr(tx, "ensure_connection"):  # django.db.connection
        tx.ensure_connection()
        return tx.connection
    if hasattr(tx, "driver_connection"):  # what a pool of SQLAlchemy hands out
        return tx.driver_connection
    inner = getattr(tx, "connection", None)
    if callable(inner):  # sqlalchemy.orm.Session
        return sync_connection(inner())
    if hasattr(tx, "in_transaction") and not tx.in_transaction():  # sqlalchemy.Connection
        tx.begin()  # else its commit would pass over what it has not seen
    if inner is not None:  # a cursor, or sqlalchemy.Connection
        return sync_connection(inner)
    if hasattr(tx, "cursor"):
        return tx
    raise TypeError(
        f"cannot join the transaction of {type(tx).__name__}: pass a psycopg connection or cursor, a SQLAlchemy "
        "Session or Connection, or a Django connection"
    )
