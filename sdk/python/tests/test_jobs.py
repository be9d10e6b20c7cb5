"""Jobs: functions by kind, their arguments and results, unique ones, cancelled ones, snoozed ones."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta, timezone
from typing import Any

import psycopg
import pytest

import weir
from conftest import TOKEN, TOKEN_URL
from weir import testing

PATIENCE = 60.0


def until(true: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while not (value := true()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return value


def quiet(*_: Any) -> None:
    """Tell nobody of failures that a test wants."""


@dataclass
class Report:
    month: date
    pages: int


def test_a_job_runs_with_the_arguments_and_types_it_was_enqueued_with(client: weir.Client, queue: str) -> None:
    jobs = weir.Jobs(client, queue)
    seen: list[Any] = []

    @jobs.job
    def welcome(user: int, report: Report, *, names: list[str] | None = None) -> None:
        seen.append((user, report, names))

    assert welcome(1, Report(date(2026, 1, 1), 2)) is None, "called, it runs here"
    welcome.enqueue(2, Report(date(2026, 2, 1), 3))
    welcome.enqueue(user=3, report=Report(date(2026, 3, 1), 4), names=["a"])
    with pytest.raises(TypeError):
        welcome.enqueue(4)  # type: ignore[call-arg]
    testing.run_until_empty(jobs.worker(concurrency=1))
    assert seen == [
        (1, Report(date(2026, 1, 1), 2), None),
        (2, Report(date(2026, 2, 1), 3), None),
        (3, Report(date(2026, 3, 1), 4), ["a"]),
    ]


async def test_a_coroutine_function_is_a_job_whose_progress_and_result_can_be_asked(
    aclient: weir.AsyncClient, queue: str
) -> None:
    jobs = weir.AsyncJobs(aclient, queue)
    reached, go_on = asyncio.Event(), asyncio.Event()

    @jobs.job(kind="report.monthly", tracked=True)
    async def report(month: date) -> Report:
        assert await jobs.current().progress({"pages": 1})
        reached.set()
        await go_on.wait()
        return Report(month, 2)

    number = await report.enqueue(date(2026, 1, 1))
    waiting = await report.status(number)
    assert waiting is not None
    assert (waiting.kind, waiting.state) == ("report.monthly", "waiting")
    async with jobs.worker():
        await asyncio.wait_for(reached.wait(), PATIENCE)
        running = await report.status(number)
        assert running is not None
        assert (running.state, running.progress) == ("running", {"pages": 1})
        go_on.set()
    done = await report.status(number)
    assert done is not None
    assert (done.state, done.result) == ("done", {"month": "2026-01-01", "pages": 2})


def test_jobs_are_enqueued_in_the_callers_transaction(client: weir.Client, queue: str, dsn: str) -> None:
    jobs = weir.Jobs(client, queue)
    seen: list[int] = []

    @jobs.job
    def note(n: int) -> None:
        seen.append(n)

    with psycopg.connect(dsn) as conn:
        note.in_(conn).enqueue(1)
        conn.rollback()
        note.in_(conn).enqueue(2)
    testing.run_until_empty(jobs.worker())
    assert seen == [2]


@pytest.mark.parametrize("way", ["sql", "http"])
def test_each_job_of_a_batch_may_have_a_unique_key(
    dsn: str, url: str, client: weir.Client, queue: str, way: str
) -> None:
    with weir.connect(dsn if way == "sql" else url) as near:
        first = near.enqueue(queue, "sync", {"n": 1}, unique_key="a")
        batch = [{"kind": "sync", "args": {"n": n}, "unique_key": key} for n, key in enumerate("abcb")]
        enqueued = near.enqueue_batch(queue, batch)
        assert [job.repeated for job in enqueued] == [True, False, False, True]
        assert (enqueued[0].id, enqueued[3].id) == (first, enqueued[1].id)
        assert sorted(m.payload["n"] for m in client.pop(queue, max=10)) == [1, 1, 2]

        def sync(n: int) -> None:
            """Do nothing."""

        job = weir.Jobs(near, queue).job(unique_key="a")(sync)
        with pytest.raises(ValueError, match="one unique_key for all"):
            job.enqueue_many([{"n": 1}, {"n": 2}])


def test_unique_jobs_are_enqueued_once_also_many_at_a_time(client: weir.Client, queue: str) -> None:
    jobs = weir.Jobs(client, queue)
    seen: list[int] = []

    @jobs.job(unique=True)
    def sync(account: int) -> None:
        seen.append(account)

    first = sync.enqueue(1)
    assert sync.enqueue(1) == first
    batch = sync.enqueue_many([{"account": n} for n in (1, 2, 3, 2)])
    assert [item.repeated for item in batch] == [True, False, False, True]
    assert batch[0].id == first
    testing.run_until_empty(jobs.worker())
    assert sorted(seen) == [1, 2, 3]
    assert sync.enqueue(1) != first, "it is finished, so another may come"


def test_what_cannot_be_run_says_why(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", max_attempts=1)
    jobs = weir.Jobs(client, queue)
    told: list[BaseException] = []

    @jobs.job
    def typed(n: int) -> None:
        raise AssertionError("it must not run")

    for kind, args in [("typed", {"n": "one"}), ("typed", {}), ("typed", {"n": 1, "m": 2}), ("typed", [1])]:
        client.enqueue(queue, kind, args)
    client.enqueue(queue, "unknown", {})
    with jobs.worker(group="g", on_error=lambda error, _: told.append(error)):
        until(lambda: len(client.dead_letters(queue, group="g")) == 5)
    assert [d.reason for d in client.dead_letters(queue, group="g")] == [
        "payload is str 'one', not int",
        "argument 'n' is missing",
        "there is no parameter 'm'",
        "arguments are list, not an object",
        "LookupError: this worker has no function for the kind 'unknown'",
    ]


def test_a_snoozed_job_comes_again_and_the_attempt_is_not_counted(client: weir.Client, queue: str) -> None:
    client.create_group(queue, "g", max_attempts=1)
    jobs = weir.Jobs(client, queue)
    attempts: list[int] = []

    @jobs.job
    def wait_for_it() -> None:
        attempts.append(jobs.current().attempt)
        if len(attempts) < 3:
            raise weir.Snooze(timedelta(milliseconds=10))

    wait_for_it.enqueue()
    with jobs.worker(group="g"):
        until(lambda: len(attempts) == 3)
    assert attempts == [1, 1, 1]
    assert client.dead_letters(queue, group="g") == []


def test_a_cancelled_job_is_not_run_and_a_running_one_is_told(client: weir.Client, queue: str) -> None:
    jobs = weir.Jobs(client, queue)
    began = threading.Event()
    ended: list[str] = []

    @jobs.job(tracked=True)
    def endless() -> None:
        began.set()
        try:
            while True:
                time.sleep(0.01)
        finally:
            ended.append("told" if jobs.current().cancelled else "by itself")

    never = endless.enqueue()
    assert endless.cancel(never, reason="not wanted") == "cancelled"
    running = endless.enqueue()
    with jobs.worker(lease=60, on_error=quiet):
        assert began.wait(PATIENCE)
        assert endless.cancel(running) == "running"
        until(lambda: ended)
        until(lambda: (status := endless.status(running)) and status.state == "cancelled")
    assert ended == ["told"]
    status = endless.status(never)
    assert status is not None
    assert (status.state, status.error) == ("cancelled", "not wanted")


def test_exactly_once_keeps_the_result_in_the_transaction_of_the_job(client: weir.Client, queue: str, dsn: str) -> None:
    jobs = weir.Jobs(client, queue)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(f'create table "{queue}" (n int)')

        @jobs.job(tracked=True)
        def charge(n: int) -> str:
            current = jobs.current()
            current.tx.connection.execute(f'insert into "{queue}" values (%s)', [n])
            if current.attempt == 1:
                raise weir.RetryAfter(0, "rolled back")
            return "charged"

        number = charge.enqueue(7)
        with jobs.worker(exactly_once=True, on_error=quiet):
            until(lambda: (status := charge.status(number)) and status.state == "done")
        rows = conn.execute(f'select n from "{queue}"').fetchall()
        conn.execute(f'drop table "{queue}"')
    status = charge.status(number)
    assert (rows, status and status.result) == ([(7,)], "charged")


def test_exactly_once_over_http_keeps_the_result_and_what_was_sent_together(queue: str, url: str) -> None:
    with weir.connect(url) as client:
        jobs = weir.Jobs(client, queue)
        onward = f"{queue}-onward"
        client.create_queue(onward)

        @jobs.job(tracked=True)
        def charge(n: int) -> str:
            current = jobs.current()
            current.tx.send(onward, n)
            if current.attempt == 1:
                raise weir.RetryAfter(0, "undone")
            return "charged"

        number = charge.enqueue(7)
        with jobs.worker(exactly_once=True, on_error=quiet):
            until(lambda: (status := charge.status(number)) and status.state == "done")
        status = charge.status(number)
        sent = [message.payload for message in client.pop(onward, max=10)]
        client.drop_queue(onward)
    assert (sent, status and status.result) == ([7], "charged")


def test_functions_that_cannot_be_called_by_names_are_refused(client: weir.Client, queue: str) -> None:
    jobs = weir.Jobs(client, queue)
    with pytest.raises(TypeError):
        jobs.job(lambda *args: None)
    jobs.job(kind="once")(lambda: None)
    with pytest.raises(ValueError, match="there already"):
        jobs.job(kind="once")(lambda: None)


def test_a_scheduled_job_is_enqueued_when_it_is_due(client: weir.Client, queue: str) -> None:
    jobs = weir.Jobs(client, queue)
    seen: list[int] = []

    @jobs.job
    def tick(n: int) -> None:
        seen.append(n)

    name = f"tick-{queue}"
    due = tick.schedule(name, "30 4 * * mon", {"n": 1}, time_zone="Europe/Berlin")
    assert (due.astimezone(timezone.utc).weekday(), due.minute) == (0, 30)
    with pytest.raises(ValueError, match="delay"):
        tick.using(delay=1).schedule(name, "@daily", {"n": 1})
    tick.schedule(name, args={"n": 2}, every=1)
    with jobs.worker():
        until(lambda: seen)
    assert client.unschedule(name)
    assert not client.unschedule(name)
    assert set(seen) == {2}


def test_over_http_jobs_run_and_a_cancelled_one_is_told(queue: str) -> None:
    with weir.connect(TOKEN_URL, token=lambda: TOKEN) as client:
        jobs = weir.Jobs(client, queue)
        told = threading.Event()

        @jobs.job(tracked=True)
        def add(a: int, b: int) -> int:
            assert jobs.current().progress({"half": True})
            return a + b

        @jobs.job(tracked=True)
        def endless() -> None:
            try:
                while True:
                    time.sleep(0.01)
            except weir.Cancelled:
                told.set()
                raise

        first, second = add.enqueue(1, 2), endless.enqueue()
        with jobs.worker(lease=30, on_error=quiet):
            until(lambda: endless.status(second).state == "running")  # type: ignore[union-attr]
            assert endless.cancel(second) == "running"
            assert told.wait(PATIENCE)
            status = until(lambda: (s := add.status(first)) and s.state == "done" and s)
            assert status.result == 3
            until(lambda: endless.status(second).state == "cancelled")  # type: ignore[union-attr]


def test_steps_of_a_workflow_run_in_their_order(client: weir.Client, queue: str) -> None:
    jobs = weir.Jobs(client, queue)

    @jobs.job
    def add(a: int, b: int) -> int:
        return a + b

    @jobs.job(kind="sum")
    def total() -> int:
        results = (jobs.current().message.headers or {})["job"]["results"]
        return sum(results.values())

    steps = [
        weir.Step("add", {"a": 1, "b": 2}, name="one"),
        weir.Step("add", {"a": 3, "b": 4}, name="two"),
        {"kind": "sum", "name": "all", "after": ["one", "two"]},
    ]
    workflow = client.start_workflow(queue, steps, name="w")
    assert client.start_workflow(queue, steps, name="w") == workflow
    with jobs.worker():
        until(lambda: all(step.state == "done" for step in client.workflow(queue, workflow)))
    assert [(step.name, step.result, step.after) for step in client.workflow(queue, workflow)] == [
        ("one", 3, []),
        ("two", 7, []),
        ("all", 10, ["one", "two"]),
    ]


async def test_a_chain_over_asyncio_goes_on_with_the_results(aclient: weir.AsyncClient, queue: str) -> None:
    jobs = weir.AsyncJobs(aclient, queue)

    @jobs.job
    async def step() -> int:
        before = (jobs.current().message.headers or {})["job"].get("results") or {"0": 0}
        if len(before) == 1 and "2" in before:
            ended.set()
        return 1 + next(iter(before.values()))

    ended = asyncio.Event()
    chain = await aclient.start_chain(queue, [weir.Step("step"), weir.Step("step"), weir.Step("step")])
    async with jobs.worker():
        await asyncio.wait_for(ended.wait(), PATIENCE)
    assert [one.result for one in await aclient.workflow(queue, chain)] == [1, 2, 3]
