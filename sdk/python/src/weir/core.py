"""The loop inside a worker, the same for threads and for tasks.

fetch claims and makes chains; dispatch runs as many as may run at once; settle sends what became of messages, gathered
while the call before was under way; renew keeps leases alive. A claim is held until the engine has confirmed what
became of its last message, and is renewed as long as it is held.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Protocol, TypeVar

from weir import calls, failures
from weir.calls import Call
from weir.errors import Cancelled, Error, PayloadError, Reject, RetryAfter, Snooze
from weir.errors_generated import ALREADY_FINISHED
from weir.handlers import AlreadyFinished, Finished, Handlers, is_lost
from weir.held import Chain, Claim, Context, Item, Outcome, Run, acks, by_number, chains, returns
from weir.options import Health, Options
from weir.pace import Cooldown, Pace
from weir.runtime import jitter
from weir.types import Message, seconds

T = TypeVar("T")

_PAUSE_MIN, _PAUSE_MAX = 0.1, 10.0
# How long a wait of the waiter or the server may keep the worker from noticing that it shall stop.
_WAIT = 0.25
_HTTP_WAIT = 1.0
# How long handlers that were cancelled may take to clean up when the worker stops.
_GRACE = 3.0
_REASON_MAX = 1000
# How long a message may wait for a handler before it is given back, where more is held than need be.
_SHED_AFTER = 1.0
# A lease is renewed each such part of it.
_RENEWALS = 3


class Port(Protocol):
    """How the loop reaches the engine."""

    def told(self) -> bool:
        """Whether the last wait ended because a message came: most likely one is there."""

    def found(self) -> bool:
        """Note that there were messages; True where they come one by one."""

    async def run(self, call: Call[T]) -> T:
        """Do a call."""

    async def wait(self, most: float) -> None:
        """Wait until it is time to look for messages again."""

    async def close(self) -> None:
        """Close what was opened for it."""


def _error_of(future: asyncio.Future[Any]) -> BaseException | None:
    """Return how a handler failed."""
    try:
        return future.exception()
    except asyncio.CancelledError as cancelled:
        return cancelled


def _code_of(error: BaseException) -> str | None:
    return error.code if isinstance(error, Error) else None


class Core:
    """One run of a worker."""

    def __init__(self, make_port: Callable[[], Port], handlers: Handlers, options: Options) -> None:
        self._make_port = make_port
        self._handlers = handlers
        self._o = options
        self._lease = seconds(options.lease)
        self._timeout = None if options.timeout is None else seconds(options.timeout)
        self._ordered = False
        self._limited = False
        """The group has a ``concurrency_max``."""
        self._max_attempts = 0
        self._pace = Pace(options.concurrency, options.held_max)
        self._cool = Cooldown(seconds(options.cooldown), self._lease)
        self._ack_gap = self._cool.time
        """Between the begins of two acks, unless somebody waits for one."""
        self._part_wait = self._cool.time  # of acks for the rest of their claim
        self._claims: dict[int, Claim] = {}
        self._ready: deque[Chain] = deque()
        self._running: set[Run] = set()
        self._acked: set[Claim] = set()  # with messages that are done
        self._outcomes: list[Outcome] = []
        self._changed = asyncio.Event()  # there is room, or it is time to stop
        self._settled = asyncio.Event()  # there are outcomes
        self._hurry = asyncio.Event()  # the fetches, a stop or other messages wait for that
        self.ended = asyncio.Event()
        self.stopping = False
        self._hard = asyncio.Event()
        self._receiving = False
        self._last_receive: datetime | None = None
        self._last_error: BaseException | None = None
        self._renewing = False  # no handler may begin a transaction that the renewal would wait for

    # --- the outside

    def stop(self, *, hard: bool) -> None:
        """Begin to stop. Call it in the loop's thread."""
        self.stopping = True
        self._changed.set()
        self._hurry.set()
        if hard:
            self._hard.set()

    def is_handler(self, task: asyncio.Task[Any] | None) -> bool:
        """Whether a task is one of the handlers."""
        return any(run.running.future is task for run in self._running)

    def health(self) -> Health:
        """Say how it goes."""
        return Health(self._receiving, self._last_receive, self._held(), len(self._running), self._last_error)

    async def run(self) -> None:
        """Work until stopped."""
        self._port = self._make_port()
        side: list[asyncio.Task[None]] = []
        try:
            groups = await self._persist(lambda: self._port.run(calls.list_groups(self._o.queue)), starting=True)
            mine = [group for group in groups or [] if group.group == self._o.group]
            if not mine and not self.stopping:
                await self._port.run(calls.peek(self._o.queue, group=self._o.group, max=1))  # says what is wrong
            self._ordered = any(group.ordered for group in mine)
            self._max_attempts = max((group.max_attempts for group in mine), default=0)
            self._limited = any(group.concurrency_max > 0 for group in mine)
            if self._ordered:  # what comes next waits for the acks
                self._ack_gap = 0
            side = [asyncio.create_task(loop()) for loop in (self._renew, self._settle, self._maintain)]
            fetch = asyncio.create_task(self._fetch())
            await asyncio.wait({fetch, *side}, return_when=asyncio.FIRST_COMPLETED)
            for task in (fetch, *side):
                if task.done():
                    task.result()  # a loop that failed is a defect; it ends the worker
            await self._drain()
        finally:
            self._receiving = False
            for task in side:
                task.cancel()
            await asyncio.gather(*side, return_exceptions=True)
            await self._port.close()
            self._handlers.close()
            self.ended.set()

    # --- fetching

    async def _fetch(self) -> None:
        starting = True
        while not self.stopping:
            room = self._room()
            if room == 0:
                self._hurry.set()
                self._changed.clear()
                await self._changed.wait()
                continue
            before = time.monotonic()
            # Within its transaction a handler holds its claim, and nobody can renew it: one message each, then.
            # And one message is had sooner than as many as there are.
            lone = self._handlers.exactly_once or (self._port.told() and not self._ordered)
            most = 1 if lone else room
            wait = min(_HTTP_WAIT, self._lease / 3) if self._o.http else None
            call = calls.receive(self._o.queue, group=self._o.group, max=most, lease=self._o.lease, wait=wait)
            messages = await self._persist(lambda call=call: self._receive(call), starting)  # type: ignore[misc]
            starting = False
            if messages is not None:
                full = len(messages) == most
                if not lone and self._held() < self._pace.now:  # else it tells nothing of how quick the handlers are
                    self._pace.fetched(full)
                self._cool.fetched(before, len(messages), full)
            if messages:
                self._take(messages, before + self._lease)
                if self._port.found() and not self.stopping:
                    await self._port.wait(_WAIT)  # marks the queue, so that the next fetch sees whether that was all
                if len(messages) < most and (left := self._cool.left(time.monotonic() - before)) > 0:
                    await self._stopping_within(left)
            elif not self._o.http and not self.stopping:
                await self._port.wait(_WAIT)

    async def _receive(self, call: Call[list[Message[Any]]]) -> list[Message[Any]]:
        messages = await self._port.run(call)
        self._receiving, self._last_receive = True, datetime.now(timezone.utc)
        return messages

    def _take(self, messages: list[Message[Any]], lease_end: float) -> None:
        by_claim: dict[int, list[Message[Any]]] = {}
        for message in messages:
            by_claim.setdefault(message.claim_id, []).append(message)
        for claim_id, part in by_claim.items():
            claim = Claim(claim_id, time.monotonic(), lease_end, {message.id for message in part})
            self._claims[claim_id] = claim
            self._ready.extend(chains(claim, part, self._ordered))
        self._dispatch()

    def _room(self) -> int:
        """How many messages to ask for; 0 while it is better to wait for room for more."""
        # What is held may stand in line, so that handlers without work need others.
        idle = self._o.concurrency - len(self._running) if self._ordered and not self._ready else 0
        room = max(min(self._pace.now - self._held(), self._pace.claim_max()), idle, 0)
        # Many at once are cheaper, as long as there is something to begin with.
        return 0 if self._ready and 4 * room < self._pace.now else room

    def _held(self) -> int:
        return sum(len(claim.open) for claim in self._claims.values())

    async def _persist(self, work: Callable[[], Awaitable[T]], starting: bool = False) -> T | None:
        """Do something until it succeeds; None when the worker stops first. `starting`: await only what passes."""
        pause = _PAUSE_MIN
        while True:
            try:
                return await work()
            except Error as error:
                self._receiving = False
                self._report(error, None)
                if starting and not error.retryable:
                    raise
                if not error.retryable:
                    pause = _PAUSE_MAX
            if await self._stopping_within(jitter(pause)):
                return None
            pause = min(2 * pause, _PAUSE_MAX)

    async def _stopping_within(self, pause: float) -> bool:
        end = time.monotonic() + pause
        while not self.stopping and (left := end - time.monotonic()) > 0:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:
                break
        return self.stopping

    # --- handling

    def _dispatch(self) -> None:
        while self._ready and not self.stopping and not self._renewing and len(self._running) < self._o.concurrency:
            chain = self._ready.popleft()
            if not chain.claim.lost:
                self._begin(chain)

    def _begin(self, chain: Chain) -> None:
        """Run the handler on the first message of a chain."""
        message = chain.messages.popleft()
        now = time.monotonic()
        self._pace.began(now - chain.claim.taken)
        context = Context(message)
        run = Run(chain, message, context, self._handlers.start(message, context), now)
        self._running.add(run)
        future = run.running.future
        if self._timeout is not None:
            run.timer = future.get_loop().call_later(self._timeout, run.time_out)
        future.add_done_callback(lambda _: self._end(run))

    def _end(self, run: Run) -> None:
        """Take what became of a message, and go on with its chain or another."""
        chain, claim = run.chain, run.chain.claim
        self._running.discard(run)
        self._pace.did(time.monotonic() - run.began)
        if run.timer is not None:
            run.timer.cancel()
        error = _error_of(run.running.future)
        result = None if error is not None else run.running.future.result()
        if isinstance(result, Finished):
            if not claim.lost:
                self._become(Outcome("finish", claim, (run.message.id,), result=result.value))
        elif error is None and not self._handlers.exactly_once:
            self._ack(claim, run.message)
        else:
            outcome = self._outcome(run, error)
            if outcome is not None and not claim.lost:
                if self._ordered:
                    outcome = replace(outcome, taken=tuple(message.id for message in chain.messages))
                    chain.messages.clear()
                self._become(outcome)
        if chain.messages and not claim.lost and not self.stopping:
            self._begin(chain)
        else:
            self._give_back(chain)
        self._dispatch()
        if not self._ready:
            self._changed.set()

    def _outcome(self, run: Run, error: BaseException | None) -> Outcome | None:
        """Say what shall become of a message that was not simply done; None when that is settled already."""
        message, claim = run.message, run.chain.claim
        ids = (message.id,)
        if error is None or isinstance(error, AlreadyFinished) or _code_of(error) == ALREADY_FINISHED:
            self._confirmed(claim, ids)  # in its own transaction
            return None
        if claim.lost:
            return None
        if isinstance(error, Error) and is_lost(error) and self._handlers.exactly_once:
            self._lose(claim, error)
            return None
        if run.timed_out:
            reason = f"timed out after {self._timeout} s"
            self._report(TimeoutError(reason), message)
            return Outcome("nack", claim, ids, None, reason)
        if run.cancelled:
            return Outcome("reject", claim, ids, None, "cancelled")
        if isinstance(error, Snooze):
            return Outcome("snooze", claim, ids, error.delay)
        if isinstance(error, RetryAfter):
            return Outcome("nack", claim, ids, error.delay, error.reason)
        if isinstance(error, Reject):
            return Outcome("reject", claim, ids, None, error.reason)
        if isinstance(error, PayloadError):
            self._report(error, message)
            return Outcome("reject", claim, ids, None, str(error)[:_REASON_MAX])
        if isinstance(error, (asyncio.CancelledError, Cancelled)) and self._hard.is_set():
            return Outcome("nack", claim, ids, 0, "the worker was stopped")
        self._report(error, message)
        return Outcome("nack", claim, ids, None, f"{type(error).__name__}: {error}"[:_REASON_MAX])

    def _confirmed(self, claim: Claim, ids: tuple[int, ...]) -> None:
        claim.whole = False
        self._settle_ids(claim, ids)

    # --- settling

    def _ack(self, claim: Claim, message: Message[Any]) -> None:
        if claim.lost:
            return
        if not claim.done:
            claim.since = time.monotonic()
        claim.done.add(message.id)
        self._acked.add(claim)
        # Others may wait for what becomes of it: those of its key, and all of a group with a limit.
        if not self._cool.on and (message.key is not None or self._limited):
            if not self._ordered:  # there a claim has many keys, and is mostly done at once
                claim.since = -math.inf
            self._hurry.set()
        self._settled.set()

    def _become(self, outcome: Outcome) -> None:
        outcome.claim.whole = False
        outcome.claim.since = -math.inf
        self._outcomes.append(outcome)
        if not self._cool.on:
            self._hurry.set()
        self._settled.set()

    def _give_back(self, chain: Chain) -> None:
        """Give back what was not begun."""
        if chain.messages and not chain.claim.lost:
            ids = tuple(message.id for message in chain.messages)
            chain.messages.clear()
            self._become(Outcome("release", chain.claim, ids))

    async def _settle(self) -> None:
        """Settle what there is, and so on.

        What comes while a call is under way, or within the cooldown since its begin, goes out with the next, unless
        somebody waits for it: at a low rate nothing waits, at a high rate the calls are large.
        """
        began = -math.inf
        while True:
            await self._settled.wait()
            if not self.stopping and self._room() > 0:  # else the next fetch, or the stop, waits for this
                await self._hurried(self._ack_gap - (time.monotonic() - began))
            began = time.monotonic()
            await self._flush()

    async def _hurried(self, most: float) -> None:
        """Return when somebody waits for a settlement, or after a time."""
        if most > 0:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), most)
        self._hurry.clear()

    async def _flush(self) -> None:
        """Send the outcomes there are. What is not confirmed stays with its claim, which is renewed or lost."""
        self._settled.clear()
        acked = self._due()
        outcomes, self._outcomes = self._outcomes, []
        await self._settle_kind("ack", acks(acked))
        for kind in ("finish", "nack", "reject", "release", "snooze"):
            await self._settle_kind(kind, returns(o for o in outcomes if o.kind == kind))

    def _due(self) -> set[Claim]:
        """Take the claims to ack. A part of one waits a little for the rest: all of it is acked by one number."""
        now = time.monotonic()
        idle = len(self._running) < self._o.concurrency and not self._ready and self._room() == 0
        parts = {claim for claim in self._acked if not claim.whole_done and now - claim.since < self._part_wait}
        if self.stopping or idle:
            parts = set()
        elif parts:
            first = min(claim.since for claim in parts)
            asyncio.get_running_loop().call_later(first + self._part_wait - now, self._settled.set)
        due, self._acked = self._acked - parts, parts
        return due

    async def _settle_kind(self, kind: str, items: list[Item]) -> None:
        pause = _PAUSE_MIN
        while items := [item for item in items if not item[0].lost]:
            try:
                await self._tell(kind, items)
            except Error as error:
                if len(items) > 1 and not error.retryable:
                    for item in items:
                        await self._settle_kind(kind, [item])
                    return
                if is_lost(error):
                    self._lose(items[0][0], error)
                    return
                self._report(error, None)
                await asyncio.sleep(jitter(pause))
                pause = min(2 * pause, _PAUSE_MAX)
                self._expire()
                continue
            for claim, _, ids in items:
                self._settle_ids(claim, ids)
            return

    async def _tell(self, kind: str, items: list[Item]) -> None:
        for claim, _, ids in items:
            claim.settling |= ids
        try:
            await self._port.run(calls.settle(kind, self._o.queue, self._o.group, [s for _, s, _ in items]))
        finally:
            for claim, _, ids in items:
                claim.settling -= ids

    def _settle_ids(self, claim: Claim, ids: Any) -> None:
        claim.settled(ids)
        if not claim.open:
            self._claims.pop(claim.id, None)
        self._changed.set()

    # --- leases

    async def _renew(self) -> None:
        pause = self._lease / _RENEWALS
        while True:
            await asyncio.sleep(pause)
            pause = self._lease / _RENEWALS
            self._shed()
            claims = by_number(claim for claim in self._claims.values() if not self._undecided(claim))
            self._renewing = self._handlers.exactly_once
            if claims and not await self._extend(claims):
                pause = min(1.0, self._lease / 10)
            self._renewing = False
            self._dispatch()
            if claims and self._o.jobs:
                await self._tell_cancelled(claims)
            self._expire()

    def _shed(self) -> None:
        """Give back what was claimed when handlers were quicker than they are: another worker would do it sooner."""
        now = time.monotonic()
        if any(now - chain.claim.taken > _SHED_AFTER for chain in self._ready):
            held = len(self._ready) + len(self._running) if self._ordered else self._held()
            for _ in range(min(self._pace.slowed(held), len(self._ready))):
                self._give_back(self._ready.popleft())

    async def _tell_cancelled(self, claims: list[Claim]) -> None:
        """Have the handlers of jobs that were cancelled leave off."""
        try:
            ids = [claim.id for claim in claims]
            cancelled = await self._port.run(calls.cancelled(self._o.queue, self._o.group, ids))
        except Error as error:
            self._report(error, None)
            return
        for run in self._running:
            if run.message.id in cancelled:
                run.cancelled = True
                run.running.cancel()

    async def _extend(self, claims: list[Claim]) -> bool:
        """Renew claims; False when it has to be tried again soon."""
        before = time.monotonic()
        ids = [claim.id for claim in claims]
        try:
            await self._port.run(calls.extend(self._o.queue, self._o.group, ids, self._o.lease))
        except Error as error:
            if len(claims) > 1 and not error.retryable:
                return all([await self._extend([claim]) for claim in claims if claim.open])
            if is_lost(error):  # or finished
                if not self._undecided(claims[0]):
                    self._lose(claims[0], error)
                return True
            self._report(error, None)
            return False
        for claim in claims:
            claim.lease_end = before + self._lease
        return True

    def _undecided(self, claim: Claim) -> bool:
        """Whether all that is left of a claim is being settled. That call, or transaction, tells what became of it."""
        own = {run.message.id for run in self._running if run.context.settling and run.chain.claim is claim}
        return claim.open <= claim.settling | own

    def _expire(self) -> None:
        now = time.monotonic()
        for claim in list(self._claims.values()):
            if claim.lease_end <= now and not self._undecided(claim):
                text = f"claim {claim.id} could not be renewed in time"
                self._lose(claim, Error("WR010", text, hint="Its messages are delivered again."))

    def _lose(self, claim: Claim, error: Error) -> None:
        """Let go of a claim whose messages are somebody else's by now: nothing of it may be acked."""
        if claim.lost:
            return
        claim.lost = True
        self._claims.pop(claim.id, None)
        for run in self._running:
            if run.chain.claim is claim:
                run.running.cancel()
        self._report(error, None)
        self._changed.set()

    # --- the rest

    async def _maintain(self) -> None:
        while True:
            if not self._o.maintain:
                await asyncio.Event().wait()
            await asyncio.sleep(jitter(1.5))
            try:
                await self._port.run(calls.maintain(0.5))
            except Error as error:
                self._report(error, None)

    async def _drain(self) -> None:
        """Give back what was not begun, let handlers end, and settle everything."""
        while self._ready:
            self._give_back(self._ready.popleft())
        hard = asyncio.create_task(self._hard.wait())
        await self._all_ended({hard}, seconds(self._o.stop_timeout))
        hard.cancel()
        if self._running:
            self._hard.set()
            for run in self._running:
                run.running.cancel()
            await self._all_ended(set(), _GRACE)
        end = time.monotonic() + self._lease
        while self._acked or self._outcomes or any(self._unsettled()):
            self._changed.clear()
            self._settled.set()
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.0, end - time.monotonic()))
            except asyncio.TimeoutError:
                break

    def _unsettled(self) -> list[Claim]:
        """Return the claims with messages to settle; those of handlers that would not end are left to expire."""
        stuck = {run.chain.claim for run in self._running}
        return [claim for claim in self._claims.values() if claim not in stuck]

    async def _all_ended(self, others: set[asyncio.Task[Any]], most: float) -> None:
        """Wait for all handlers to end, or for one of the others, or for the time to pass."""
        end = time.monotonic() + most
        while self._running and (left := end - time.monotonic()) > 0:
            handlers = {run.running.future for run in self._running}
            await asyncio.wait({*handlers, *others}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if any(task.done() for task in others):
                return

    def _report(self, error: BaseException, message: Message[Any] | None) -> None:
        self._last_error = error
        try:
            if self._o.on_error is not None:
                self._o.on_error(error, message)
            else:
                failures.log(error, message, self._o.queue, self._max_attempts)
        except Exception:
            failures.logger.exception("on_error failed")
