"""The consumer: receives from one queue and group."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from weir import codec
from weir.calls import DEFAULT_GROUP
from weir.types import Duration, Message

if TYPE_CHECKING:
    from weir.aio.client import AsyncClient

T = TypeVar("T")


@dataclass(frozen=True)
class AsyncReceived(Message[T]):
    """A message that knows how to ack itself."""

    client: AsyncClient = field(repr=False, compare=False)

    async def ack(self, tx: Any = None) -> int:
        """Finish it; in the caller's transaction when one is given."""
        client = self.client if tx is None else self.client.in_(tx)
        return await client.ack(self.queue, self.claim_id, [self.id], group=self.group)

    async def nack(self, delay: Duration | None = None, reason: str | None = None) -> int:
        """Give it back, to be delivered again after ``delay`` or the group's backoff."""
        return await self.client.nack(
            self.queue, self.claim_id, [self.id], delay=delay, reason=reason, group=self.group
        )

    async def reject(self, reason: str | None = None) -> int:
        """Make it a dead letter."""
        return await self.client.reject(self.queue, self.claim_id, [self.id], reason=reason, group=self.group)

    async def extend(self, lease: Duration) -> datetime:
        """Give its claim more time, from now."""
        return await self.client.extend(self.queue, self.claim_id, lease, group=self.group)


class AsyncConsumer(Generic[T]):
    """Receives messages one batch at a time, or one by one as an iterator without end."""

    def __init__(
        self,
        client: AsyncClient,
        queue: str,
        payload: type[T] | Any = Any,
        *,
        group: str = DEFAULT_GROUP,
        max: int = 10,
        lease: Duration = 30,
        wait: Duration = 20,
    ) -> None:
        self.queue, self.group = queue, group
        self._client = client
        self._payload = payload
        self._max, self._lease, self._wait = max, lease, wait

    async def receive(self) -> list[AsyncReceived[T]]:
        """Claim messages, waiting for the first. PayloadError when a payload does not fit; its claim then expires."""
        messages = await self._client.receive(
            self.queue, group=self.group, max=self._max, lease=self._lease, wait=self._wait
        )
        return [self._received(message) for message in messages]

    async def __aiter__(self) -> AsyncIterator[AsyncReceived[T]]:
        while True:
            for message in await self.receive():
                yield message

    def _received(self, message: Message[Any]) -> AsyncReceived[T]:
        fields = {f.name: getattr(message, f.name) for f in dataclasses.fields(message)}
        fields["payload"] = codec.decode(message.payload, self._payload)
        return AsyncReceived(**fields, client=self._client)
