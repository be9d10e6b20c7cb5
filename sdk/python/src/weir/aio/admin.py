"""What a client can do with queues, groups and logs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import TypeVar

from weir import calls
from weir.calls import Call
from weir.types import Duration, Group, Log, Queue

T = TypeVar("T")


class AsyncAdminCalls(ABC):
    """The methods of a client about queues, groups and logs. A setting that is not given stays, or is the default."""

    @abstractmethod
    async def run(self, call: Call[T]) -> T:
        """Do a call."""

    # --- queues

    async def create_queue(
        self,
        queue: str,
        *,
        ordered: bool | None = None,
        log: str | None = None,
        lanes: int | None = None,
        priorities: int | None = None,
        message_bytes_max: int | None = None,
        aging: Duration | None = None,
        ttl: Duration | None = None,
        dedup_window: Duration | None = None,
        backlog_max: int | None = None,
        job_retention: Duration | None = None,
    ) -> bool:
        """Create a queue and its group ``default``; return whether it was made, or was there with these settings.

        A program may call it each time it starts. ``ordered``: that group delivers messages of one key one after the
        other.
        """
        settings = {
            "ordered": ordered,
            "log": log,
            "lanes": lanes,
            "priorities": priorities,
            "message_bytes_max": message_bytes_max,
            "aging": aging,
            "ttl": ttl,
            "dedup_window": dedup_window,
            "backlog_max": backlog_max,
            "job_retention": job_retention,
        }
        return await self.run(calls.create_queue(queue, settings))

    async def configure_queue(
        self,
        queue: str,
        *,
        lanes: int | None = None,
        message_bytes_max: int | None = None,
        aging: Duration | None = None,
        ttl: Duration | None = None,
        dedup_window: Duration | None = None,
        backlog_max: int | None = None,
        job_retention: Duration | None = None,
    ) -> None:
        """Change settings of a queue in use; what is not given stays.

        ``lanes``: in so many parts its keys are shared out from now on; order is kept.
        """
        settings = {
            "lanes": lanes,
            "message_bytes_max": message_bytes_max,
            "aging": aging,
            "ttl": ttl,
            "dedup_window": dedup_window,
            "backlog_max": backlog_max,
            "job_retention": job_retention,
        }
        await self.run(calls.configure_queue(queue, settings))

    async def rename_queue(self, queue: str, new_name: str) -> None:
        """Give a queue another name; what it holds stays."""
        await self.run(calls.rename_queue(queue, new_name))

    async def move_queue(self, queue: str, log: str) -> None:
        """Move a queue in use to another log: new messages go there, and each group finishes the old one first."""
        await self.run(calls.move_queue(queue, log))

    async def list_queues(self) -> list[Queue]:
        """List the queues that the caller may see, by name."""
        return await self.run(calls.list_queues())

    async def drop_queue(self, queue: str) -> None:
        """Remove a queue with all its messages."""
        await self.run(calls.drop_queue(queue))

    # --- groups

    async def create_group(
        self,
        queue: str,
        group: str,
        *,
        ordered: bool | None = None,
        start: str | datetime | None = None,
        max_attempts: int | None = None,
        backoff_min: Duration | None = None,
        backoff_max: Duration | None = None,
        concurrency_max: int | None = None,
        rate_max: int | None = None,
        rate_period: Duration | None = None,
        key_concurrency_max: int | None = None,
        fair: bool | None = None,
    ) -> None:
        """Create a group, which is delivered every message from ``start`` on: 'start', 'end' or a time."""
        settings = {
            "ordered": ordered,
            "start": start,
            "max_attempts": max_attempts,
            "backoff_min": backoff_min,
            "backoff_max": backoff_max,
            "concurrency_max": concurrency_max,
            "rate_max": rate_max,
            "rate_period": rate_period,
            "key_concurrency_max": key_concurrency_max,
            "fair": fair,
        }
        await self.run(calls.create_group(queue, group, settings))

    async def configure_group(
        self,
        queue: str,
        group: str,
        *,
        max_attempts: int | None = None,
        backoff_min: Duration | None = None,
        backoff_max: Duration | None = None,
        concurrency_max: int | None = None,
        rate_max: int | None = None,
        rate_period: Duration | None = None,
        key_concurrency_max: int | None = None,
        fair: bool | None = None,
    ) -> None:
        """Change settings of a group in use; what is not given stays."""
        settings = {
            "max_attempts": max_attempts,
            "backoff_min": backoff_min,
            "backoff_max": backoff_max,
            "concurrency_max": concurrency_max,
            "rate_max": rate_max,
            "rate_period": rate_period,
            "key_concurrency_max": key_concurrency_max,
            "fair": fair,
        }
        await self.run(calls.configure_group(queue, group, settings))

    async def drop_group(self, queue: str, group: str) -> None:
        """Remove a group."""
        await self.run(calls.drop_group(queue, group))

    async def list_groups(self, queue: str) -> list[Group]:
        """List the groups of a queue, by name."""
        return await self.run(calls.list_groups(queue))

    async def seek(self, queue: str, group: str, position: str | datetime) -> None:
        """Move a group to 'start', 'end', a time or the message with an id."""
        text = position if isinstance(position, str) else position.isoformat()
        await self.run(calls.seek(queue, group, text))

    async def pause(self, queue: str, *, group: str | None = None) -> None:
        """Stop delivery to a group, or to all."""
        await self.run(calls.pause(queue, group))

    async def resume(self, queue: str, *, group: str | None = None) -> None:
        """End a pause."""
        await self.run(calls.resume(queue, group))

    async def purge(self, queue: str, *, group: str | None = None) -> int:
        """Drop what a group, or every one, has not finished, and return how many messages that were."""
        return await self.run(calls.purge(queue, group))

    # --- logs

    async def create_log(
        self,
        log: str,
        *,
        unlogged: bool | None = None,
        segment_bytes: int | None = None,
        claims_bytes: int | None = None,
        retention: Duration | None = None,
    ) -> bool:
        """Create a log, for queues that shall not share the log ``main``; return whether it was made, or was there.

        Those of an ``unlogged`` one are faster, and lose their messages when PostgreSQL crashes.
        """
        settings = {
            "unlogged": unlogged,
            "segment_bytes": segment_bytes,
            "claims_bytes": claims_bytes,
            "retention": retention,
        }
        return await self.run(calls.create_log(log, settings))

    async def configure_log(
        self,
        log: str,
        *,
        segment_bytes: int | None = None,
        claims_bytes: int | None = None,
        retention: Duration | None = None,
    ) -> None:
        """Change settings of a log in use; what is not given stays."""
        settings = {"segment_bytes": segment_bytes, "claims_bytes": claims_bytes, "retention": retention}
        await self.run(calls.configure_log(log, settings))

    async def list_logs(self) -> list[Log]:
        """List the logs, by name."""
        return await self.run(calls.list_logs())

    async def drop_log(self, log: str) -> None:
        """Remove a log that no queue uses."""
        await self.run(calls.drop_log(log))
