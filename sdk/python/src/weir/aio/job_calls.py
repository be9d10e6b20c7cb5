"""What a client can do with jobs, schedules and workflows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from weir import calls, codec
from weir.calls import Call
from weir.coalesce import Aim, AsyncCoalescer
from weir.errors import Error
from weir.errors_generated import MESSAGE_NOT_FOUND
from weir.hooks import Hooks, as_sent, outgoing
from weir.runtime import AsyncReturns
from weir.types import (
    Claimed,
    Duration,
    Enqueued,
    JobStatus,
    Json,
    Outgoing,
    Schedule,
    Settlement,
    Step,
    WorkflowStep,
)

T = TypeVar("T")


class AsyncJobCalls(ABC):
    """The methods of a client about jobs."""

    hooks: Hooks
    enqueues: AsyncCoalescer[str] | None
    """What has concurrent jobs share calls."""

    @abstractmethod
    async def run(self, call: Call[T]) -> T:
        """Do a call."""

    @abstractmethod
    async def again(self, work: Callable[[], AsyncReturns[T]], repeatable: bool) -> T:
        """Do work, and again after an error that passes, where that does no harm."""

    # --- jobs

    async def enqueue(
        self,
        queue: str,
        kind: str,
        args: Any = None,
        *,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        delay: Duration | None = None,
        run_at: datetime | None = None,
        priority: int | None = None,
        unique_key: str | None = None,
        unique_for: Duration | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> int:
        """Enqueue a job and return its id, or that of the job of the same unique key that is there already.

        ``unique`` makes it unique by kind and arguments, ``unique_key`` by that key; until it is finished, or for
        ``unique_for``. Only a ``tracked`` job can be asked for by ``job``.
        """
        with self.hooks.sending(queue, [Outgoing({} if args is None else codec.encode(args), key, headers)]) as sending:
            [message] = sending.passed(1)
            lasting = unique or unique_key is not None or unique_for is not None or run_at is not None
            if self.enqueues is not None and not lasting:
                enqueues, to = self.enqueues, Aim(queue, delay, priority, tracked)
                job = calls.fields(kind=kind, args=message.payload, key=message.key, headers=message.headers)
                text = calls.json_text(job)
                sending.ids = await self.again(lambda: enqueues.send(to, [text], len(text)), False)
                return sending.ids[0]
            call = calls.enqueue(
                queue,
                kind,
                message.payload,
                key=message.key,
                headers=message.headers,
                delay=delay,
                run_at=run_at,
                priority=priority,
                unique_key=unique_key,
                unique_for=unique_for,
                unique=unique,
                tracked=tracked,
            )
            sending.ids = [await self.run(call)]
            return sending.ids[0]

    async def enqueue_batch(
        self,
        queue: str,
        jobs: Sequence[Mapping[str, Any]],
        *,
        delay: Duration | None = None,
        priority: int | None = None,
        unique_for: Duration | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> list[Enqueued]:
        """Enqueue many jobs, all or none: ``{"kind": ..., "args": ..., "key": ..., "unique_key": ...}`` each."""
        encoded = [codec.encode(job) for job in jobs]
        with self.hooks.sending(queue, outgoing(encoded)) as sending:
            call = calls.enqueue_batch(
                queue,
                as_sent(encoded, sending),
                delay=delay,
                priority=priority,
                unique_for=unique_for,
                unique=unique,
                tracked=tracked,
            )
            enqueued = await self.run(call)
            sending.ids = [job.id for job in enqueued]
            return enqueued

    async def job(self, queue: str, id: int) -> JobStatus | None:
        """Return how a tracked job stands; None when it is not tracked or ended longer ago than such are kept."""
        try:
            return await self.run(calls.job(queue, id))
        except Error as error:
            if error.code == MESSAGE_NOT_FOUND:  # how HTTP says it
                return None
            raise

    async def cancel(self, queue: str, id: int, *, reason: str | None = None) -> str:
        """Cancel a job: ``cancelled``, or ``running``: its worker is told, or ``ended``: it was too late."""
        return await self.run(calls.cancel(queue, id, reason))

    async def progress(
        self, queue: str, message: Claimed, progress: Any = None, *, lease: Duration | None = None
    ) -> bool:
        """Tell how far a job is; False when it was cancelled."""
        call = calls.progress(queue, message.claim_id, message.id, codec.encode(progress), lease)
        return await self.run(call)

    async def finish(self, queue: str, message: Claimed, result: Any = None) -> int:
        """Ack a job and keep its result, if it is tracked."""
        item = Settlement(message.claim_id, (message.id,), result=codec.encode(result))
        return await self.run(calls.settle("finish", queue, calls.group_of([message]), [item]))

    # --- schedules

    async def schedule(
        self,
        name: str,
        queue: str,
        kind: str,
        args: Any = None,
        *,
        cron: str | None = None,
        every: Duration | None = None,
        time_zone: str | None = None,
        missed: str | None = None,
        key: str | None = None,
        headers: Mapping[str, Json] | None = None,
        priority: int | None = None,
        unique: bool | None = None,
        tracked: bool | None = None,
    ) -> datetime:
        """Enqueue a job at the times of ``cron``, or ``every`` so often; return when it is due next.

        A schedule of that name that is there already is changed. ``missed`` runs are skipped unless it is ``once`` or
        ``all``; ``time_zone`` is UTC unless given.
        """
        call = calls.schedule(
            name,
            queue,
            kind,
            {} if args is None else codec.encode(args),
            cron=cron,
            every=every,
            time_zone=time_zone,
            missed=missed,
            key=key,
            headers=headers,
            priority=priority,
            unique=unique,
            tracked=tracked,
        )
        return await self.run(call)

    async def unschedule(self, name: str) -> bool:
        """Remove a schedule and return whether it was there."""
        return await self.run(calls.unschedule(name))

    async def pause_schedule(self, name: str) -> None:
        """Have a schedule not fired until ``resume_schedule``."""
        await self.run(calls.pause_schedule(name))

    async def resume_schedule(self, name: str) -> None:
        """End the pause of a schedule."""
        await self.run(calls.resume_schedule(name))

    async def list_schedules(self, queue: str | None = None) -> list[Schedule]:
        """List the schedules of a queue, or of all."""
        return await self.run(calls.list_schedules(queue))

    async def next_times(self, cron: str, *, time_zone: str | None = None, n: int | None = None) -> list[datetime]:
        """Return when a cron expression would be due: the next ``n`` times, 10 unless given."""
        return await self.run(calls.next_times(cron, time_zone, n))

    # --- workflows

    async def start_workflow(
        self, queue: str, steps: Sequence[Step | Mapping[str, Any]], *, name: str | None = None
    ) -> int:
        """Start jobs of which some come after others, and return the workflow's id.

        A step's job is enqueued in the transaction that finishes the last of those before it; its header ``job`` has
        their results. A step that is done is not run again, whatever is restarted. With a name that the queue has a
        workflow of, nothing is started, and the id is that one's.
        """
        planned = [calls.step(each) for each in steps]
        with self.hooks.sending(queue, outgoing(planned)) as sending:
            return await self.run(calls.start_workflow(queue, as_sent(planned, sending), name))

    async def start_chain(
        self, queue: str, jobs: Sequence[Step | Mapping[str, Any]], *, name: str | None = None
    ) -> int:
        """Start jobs that come one after the other: see ``start_workflow``."""
        planned = [calls.step(each) for each in jobs]
        with self.hooks.sending(queue, outgoing(planned)) as sending:
            return await self.run(calls.start_chain(queue, as_sent(planned, sending), name))

    async def start_batch(
        self,
        queue: str,
        jobs: Sequence[Step | Mapping[str, Any]],
        callback: Step | Mapping[str, Any],
        *,
        name: str | None = None,
    ) -> int:
        """Start jobs all at once, and one, the callback, when all have ended, however they did: exactly once."""
        planned = [calls.step(each) for each in (*jobs, callback)]
        with self.hooks.sending(queue, outgoing(planned)) as sending:
            *first, last = as_sent(planned, sending)
            return await self.run(calls.start_batch(queue, first, last, name))

    async def workflow(self, queue: str, id: int) -> list[WorkflowStep]:
        """Return how the steps of a workflow stand; none when there is no such workflow, or not any more."""
        return await self.run(calls.workflow(queue, id))
