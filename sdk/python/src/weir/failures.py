"""What a worker logs of failures when nobody else is told."""

from __future__ import annotations

import logging
from pathlib import Path
from types import TracebackType
from typing import Any

from weir.errors import PayloadError, Reject
from weir.types import Message

logger = logging.getLogger("weir")

_PACKAGE = str(Path(__file__).parent)


def log(error: BaseException, message: Message[Any] | None, queue: str, max_attempts: int) -> None:
    """Log a handler that failed, and what becomes of its message, or a call that failed.

    Where the handler was called from is nobody's concern but the package's, so the traceback has the handler's frames.
    """
    if message is None:
        logger.warning("worker of queue %s: %s", queue, error)
        return
    dead = isinstance(error, (PayloadError, Reject)) or 0 < max_attempts <= message.attempt
    trace = own_frames(error.__traceback__)
    logger.log(
        logging.ERROR if dead else logging.WARNING,
        "message %s of queue %s, attempt %s of %s: %s: %s; %s",
        message.id,
        queue,
        message.attempt,
        max_attempts or "?",
        type(error).__name__,
        error,
        "it is a dead letter" if dead else "it is delivered again after the backoff of the group",
        exc_info=trace and (type(error), error, trace),
    )


def own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    if trace is None:
        return None
    following = own_frames(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        return following
    return TracebackType(following, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
