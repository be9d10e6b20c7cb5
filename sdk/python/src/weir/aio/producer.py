"""The producer: sends to one queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from weir.types import Duration, Json, Outgoing

if TYPE_CHECKING:
    from weir.aio.client import AsyncClient

T = TypeVar("T")


class AsyncProducer(Generic[T]):
    """Sends payloads of one type to one queue: ``orders: AsyncProducer[Order] = AsyncProducer(client, "orders")``."""

    def __init__(self, client: AsyncClient, queue: str) -> None:
        self.queue = queue
        self._client = client

    def in_(self, tx: Any) -> AsyncProducer[T]:
        """Return a producer whose messages are part of the caller's transaction."""
        return AsyncProducer(self._client.in_(tx), self.queue)

    async def send(
        self,
        payload: T,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
        dedup_key: str | None = None,
        priority: int | None = None,
    ) -> int:
        """Send one message and return its id."""
        return await self._client.send(
            self.queue, payload, key=key, headers=headers, delay=delay, dedup_key=dedup_key, priority=priority
        )

    async def send_batch(
        self,
        messages: Sequence[T | Outgoing[T]],
        *,
        delay: Duration | None = None,
        priority: int | None = None,
    ) -> list[int]:
        """Send many messages at once and return their ids."""
        return await self._client.send_batch(self.queue, messages, delay=delay, priority=priority)
