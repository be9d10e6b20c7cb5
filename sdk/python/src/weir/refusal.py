"""Finds out whether a database that cannot be reached may be later: psycopg does not keep the SQLSTATE of a refusal."""

from __future__ import annotations

import ctypes
import importlib
import re
import select
import sys
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from weir.errors import Error
from weir.errors_generated import INVALID_ARGUMENT

WRONG_PASSWORD = "28P01"  # noqa: S105 (a SQLSTATE)

# PQERRORS_SQLSTATE: libpq then says no more of an error than its severity and its code.
_SQLSTATE_ONLY = 3
_PATIENCE = 10.0
# What a pool passes on to psycopg and not to libpq.
_NOT_LIBPQ = {"autocommit", "prepare_threshold", "context", "row_factory", "cursor_factory"}

_TARGETS = "Pass postgres://user@host/database, host=... dbname=..., or the http:// or https:// URL of a weir serve."


def check_target(target: str) -> None:
    """Refuse what names no database before anything is connected to; libpq takes some of it for this machine's."""
    if re.match(r"\s*\w+\s*=", target) or target.startswith(("postgres://", "postgresql://")):
        check_dsn(target)
        return
    scheme = re.match(r"[^/@?\s]*://", target)
    got = f"the scheme {scheme[0]}" if scheme else "neither a URL nor a DSN" if target else "empty"
    raise Error(INVALID_ARGUMENT, f"cannot connect to what is no database and no server: {got}", hint=_TARGETS)


def check_dsn(dsn: str) -> None:
    """Refuse a DSN that libpq cannot read."""
    try:
        ports = str(conninfo_to_dict(dsn).get("port") or "")
    except psycopg.ProgrammingError as error:
        raise unreadable(error) from None
    for port in filter(None, ports.split(",")):  # libpq takes a wrong one for a server that is not there
        if not (port.isdecimal() and 1 <= int(port) <= 65535):
            raise unreadable(f'invalid port number: "{port}"')


def unreadable(error: Exception | str) -> Error:
    """Say that no database can be found by a DSN, now or later."""
    return Error(INVALID_ARGUMENT, f"cannot read the DSN: {str(error).strip()}", hint=_TARGETS)


def refusal(conninfo: str, kwargs: Mapping[str, Any]) -> str | None:
    """Connect once more and return the SQLSTATE that the server refuses it with; None when it does not, or not so."""
    given = {name: value for name, value in kwargs.items() if name not in _NOT_LIBPQ}
    try:
        dsn = make_conninfo(conninfo, **given).encode()
    except psycopg.ProgrammingError:
        return INVALID_ARGUMENT
    conn = pq.PGconn.connect_start(dsn)
    try:
        if conn.status == pq.ConnStatus.BAD and conn.ping(dsn) == pq.Ping.NO_ATTEMPT:
            return INVALID_ARGUMENT
        if not _tell_codes(conn):
            return None
        _poll(conn)
        if conn.needs_password:
            return WRONG_PASSWORD
        code = re.search(rb":\s+([0-9A-Z]{5})\s*\Z", conn.error_message)
        return code[1].decode() if code else None
    finally:
        conn.finish()


def _tell_codes(conn: Any) -> bool:
    """Have libpq report errors of a connection by their SQLSTATE; psycopg has no call for that."""
    try:
        module = sys.modules[type(conn).__module__]
        if pq.__impl__ == "python":
            library: Any = importlib.import_module("psycopg.pq._pq_ctypes").pq
        else:  # the extension module is linked to libpq
            library = ctypes.CDLL(module.__file__)
        function = library["PQsetErrorVerbosity"]
    except (OSError, AttributeError, ImportError):
        return False
    function.argtypes = [ctypes.c_void_p, ctypes.c_int]
    function(conn.pgconn_ptr, _SQLSTATE_ONLY)
    return True


def _poll(conn: pq.abc.PGconn) -> None:
    """Go on with a connection until it is made or refused."""
    wanted = {pq.PollingStatus.READING: select.POLLIN, pq.PollingStatus.WRITING: select.POLLOUT}
    end = time.monotonic() + _PATIENCE
    while conn.status != pq.ConnStatus.BAD and (left := end - time.monotonic()) > 0:
        event = wanted.get(pq.PollingStatus(conn.connect_poll()))
        if event is None:
            return
        poll = select.poll()
        poll.register(conn.socket, event)
        poll.poll(left * 1000)
