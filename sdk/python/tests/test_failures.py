"""What a worker logs of failures."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

import weir
from test_worker import until


def test_a_failure_is_logged_with_its_attempt_and_what_comes_next(
    client: weir.Client, queue: str, caplog: pytest.LogCaptureFixture
) -> None:
    client.create_group(queue, "g", max_attempts=2, backoff_min=0, backoff_max=0)

    def inside() -> None:
        raise ValueError("boom")

    def layer(message: weir.Message[Any], context: weir.Context, following: Callable[[], Any]) -> Any:
        return following()

    def handle(message: weir.Message[Any]) -> None:
        inside()

    sent = client.send(queue, None)
    with caplog.at_level(logging.WARNING, "weir"), weir.Worker(client, queue, handle, group="g", middleware=[layer]):
        until(lambda: client.dead_letters(queue, group="g"))
    first, last = [record for record in caplog.records if record.name == "weir"]
    again = (
        f"message {sent} of queue {queue}, attempt 1 of 2: ValueError: boom; it is delivered again after the backoff"
    )
    assert first.getMessage().startswith(again)
    assert last.getMessage().endswith("attempt 2 of 2: ValueError: boom; it is a dead letter")
    assert [first.levelno, last.levelno] == [logging.WARNING, logging.ERROR]
    assert first.exc_info is not None
    frames, trace = [], first.exc_info[2]
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert frames == ["layer", "handle", "inside"]


async def test_a_payload_that_does_not_fit_is_a_line(
    aclient: weir.AsyncClient, queue: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def handle(message: weir.Message[int]) -> None: ...

    await aclient.send(queue, "no number")
    async with weir.AsyncWorker(aclient, queue, handle):
        while not await aclient.dead_letters(queue):
            pass
    [record] = [record for record in caplog.records if record.name == "weir"]
    assert record.levelno == logging.ERROR
    assert record.getMessage().endswith("; it is a dead letter")
    assert not record.exc_info
