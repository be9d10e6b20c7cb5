"""Errors, told apart by SQLSTATE, and the exceptions by which a handler decides what becomes of its message."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import psycopg

from weir.errors_generated import CODES

__all__ = ["Cancelled", "Error", "PayloadError", "Reject", "RetryAfter", "Snooze"]

CANNOT_CONNECT = "08001"
CONNECTION_FAILURE = "08006"
NOT_SUPPORTED = "WR015"
DATA_EXCEPTION = "22000"

# Of PostgreSQL's own codes: classes, and single codes, after which the same call may succeed later.
_RETRYABLE_CLASSES = {"08", "40", "53", "57"}
_RETRYABLE_CODES = {"25006", "55P03"}

# A function, a column, a schema that is not there to be called.
_UNDEFINED = {"42883", "42703", "3F000"}
_OLDER = "The engine is older than this package, or is not installed: upgrade it with `weir install`."


class Error(Exception):
    """A failure that the engine, PostgreSQL or the way there reported. Look at ``code``, never at the text."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        name: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
        retryable: bool | None = None,
        reported: bool = True,
    ) -> None:
        super().__init__(message)
        self.code = code
        """The SQLSTATE; class WR is the engine's own."""
        self.name = name or _name(code)
        """The code in words, such as ``queue_not_found``."""
        self.message = message
        self.detail = detail
        self.hint = hint
        """The cure."""
        self.retryable = _retryable(code) if retryable is None else retryable
        """Whether the same call may succeed later."""
        self.reported = reported
        """Whether the server said so. If not, the connection broke and the call may have been done."""

    def __str__(self) -> str:
        parts = [f"{self.message} ({self.code} {self.name})"]
        parts += [part for part in (self.detail, self.hint) if part]
        return "\n".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {key: getattr(self, key) for key in ("message", "name", "detail", "hint", "retryable", "reported")}
        return _rebuild, (self.code, fields)


class RetryAfter(Exception):
    """Raised by a handler: deliver the message again after ``delay`` (a timedelta, or seconds; None: the backoff)."""

    def __init__(self, delay: timedelta | float | None, reason: str | None = None) -> None:
        super().__init__(reason or f"again in {delay}")
        self.delay = delay
        self.reason = reason


class Reject(Exception):
    """Raised by a handler: the message can never be handled; make it a dead letter at once."""

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(reason or "rejected")
        self.reason = reason


class Snooze(Exception):
    """Raised by a handler: its time has not come; deliver the message after ``delay``, the attempt not counted."""

    def __init__(self, delay: timedelta | float) -> None:
        super().__init__(f"snoozed for {delay}")
        self.delay = delay


class PayloadError(ValueError):
    """A payload does not fit the type that was asked for."""


class Cancelled(BaseException):
    """Raised inside a handler that runs in a thread when its time is over or the worker stops at once."""


def _rebuild(code: str, fields: Mapping[str, Any]) -> Error:
    return Error(code, **fields)


def _name(code: str) -> str:
    if code in CODES:
        return CODES[code].name
    if code == CANNOT_CONNECT:
        return "cannot_connect"
    if code == CONNECTION_FAILURE:
        return "connection_failure"
    try:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", psycopg.errors.lookup(code).__name__).lower()
    except KeyError:
        return "unknown"


def _retryable(code: str) -> bool:
    if code in CODES:
        return CODES[code].retryable
    return code[:2] in _RETRYABLE_CLASSES or code in _RETRYABLE_CODES


def sqlstate(error: BaseException | None) -> str | None:
    """Return the SQLSTATE of an exception of psycopg or of another driver; None when the database did not raise it."""
    return getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)


def from_driver(error: Exception) -> Error:
    """Turn an exception of psycopg, or of another driver with a SQLSTATE, into an Error."""
    diag = getattr(error, "diag", None)
    code = sqlstate(error)
    if code in _UNDEFINED:  # the statement is this package's, not the user's
        return Error(NOT_SUPPORTED, str(error), hint=_OLDER)
    if code and diag is not None and diag.message_primary:
        return Error(code, diag.message_primary, detail=diag.message_detail, hint=diag.message_hint)
    if code:
        return Error(code, str(error))
    if isinstance(error, (psycopg.DataError, psycopg.ProgrammingError)):  # a value that the driver cannot pass on
        return Error(DATA_EXCEPTION, str(error))
    return Error(CONNECTION_FAILURE, f"the connection to the database broke: {error}", reported=False)


def cannot_connect(error: Exception, code: str | None = None) -> Error:
    """Say that there is no connection, with the SQLSTATE of a server that refused it; nothing was done."""
    if code is None:
        hint = "Is the server running there?"
    elif _retryable(code):
        hint = "The server is there; it may take the connection later."
    else:
        hint = "The server is there and refuses this: correct the user, the password or the database of the DSN."
    return Error(code or CANNOT_CONNECT, f"cannot connect to the database: {str(error).strip()}", hint=hint)


def no_server(error: Exception) -> Error:
    """Say that there is no connection to a server; one whose certificate is wrong will not be right later."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    passes = cause is None or isinstance(cause, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError))
    hint = "Is the server running there?" if passes else "Correct the certificate, or https:// in the URL."
    return Error(CANNOT_CONNECT, f"cannot connect to the server: {error}", hint=hint, retryable=passes)


def from_problem(status: int, problem: Mapping[str, Any]) -> Error:
    """Turn the problem details of an HTTP answer into an Error."""
    return Error(
        problem.get("sqlstate") or CONNECTION_FAILURE,
        problem.get("detail") or problem.get("title") or f"the server answered {status}",
        name=problem.get("name"),
        hint=problem.get("hint"),
        retryable=bool(problem.get("retryable", status in (502, 503, 504))),
    )
