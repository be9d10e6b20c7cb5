"""Calls about what was claimed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from weir.calls.call import (
    Arg,
    Call,
    OwnCall,
    Query,
    Request,
    field,
    fields,
    first,
    group_path,
    interval,
    json_text,
    ms,
    nothing,
    parse_time,
    write,
    written,
)
from weir.types import (
    Duration,
    Json,
    Settlement,
    millis,
    span,
)

T = TypeVar("T")


_ACK_OWN = "select {function}(%s::bigint, %s::bigint[])"


def ack(queue: str, claim_id: int, ids: Sequence[int] | None, group: str | None) -> Call[int]:
    some = None if ids is None else list(ids)

    def query() -> Query:
        args = [
            Arg("queue_name", "text", queue),
            Arg("claim_id", "bigint", claim_id),
            Arg("ids", "bigint[]", some),
        ]
        return write("ack", args)

    def request() -> Request:
        return Request("POST", f"{group_path(queue, group)}/ack", {"acks": [fields(claim_id=claim_id, ids=some)]})

    own = OwnCall(queue, "ack", _ACK_OWN, [claim_id, some])
    return Call("ack", query, first, request, field("acks", 0, "finished"), True, own)


def nack(
    queue: str,
    claim_id: int,
    ids: Sequence[int] | None,
    delay: Duration | None,
    reason: str | None,
    group: str | None,
) -> Call[int]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("ids", "bigint[]", None if ids is None else list(ids)),
        Arg("delay", "interval", interval(delay)),
        Arg("reason", "text", reason),
    ]
    sql, params = write("nack", args)
    item = fields(claim_id=claim_id, ids=None if ids is None else list(ids), delay_ms=ms(delay), reason=reason)
    request = Request("POST", f"{group_path(queue, group)}/nack", {"nacks": [item]})
    return written("nack", sql, params, first, request, field("nacks", 0, "finished"), False)


def release(queue: str, claim_id: int, ids: Sequence[int] | None, group: str | None) -> Call[int]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("ids", "bigint[]", None if ids is None else list(ids)),
    ]
    sql, params = write("release", args)
    item = fields(claim_id=claim_id, ids=None if ids is None else list(ids))
    request = Request("POST", f"{group_path(queue, group)}/release", {"releases": [item]})
    return written("release", sql, params, first, request, field("releases", 0, "finished"), False)


def reject(queue: str, claim_id: int, ids: Sequence[int] | None, reason: str | None, group: str | None) -> Call[int]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("ids", "bigint[]", None if ids is None else list(ids)),
        Arg("reason", "text", reason),
    ]
    sql, params = write("reject", args)
    item = fields(claim_id=claim_id, ids=None if ids is None else list(ids), reason=reason)
    request = Request("POST", f"{group_path(queue, group)}/reject", {"rejects": [item]})
    return written("reject", sql, params, first, request, field("rejects", 0, "finished"), False)


def extend(queue: str, claim_id: int, lease: Duration, group: str | None) -> Call[datetime]:
    args = [
        Arg("queue_name", "text", queue),
        Arg("claim_id", "bigint", claim_id),
        Arg("lease", "interval", span(lease)),
    ]
    sql, params = write("extend", args)
    item = {"claim_id": claim_id, "lease_ms": millis(lease)}
    request = Request("POST", f"{group_path(queue, group)}/extend", {"extends": [item]})
    return written(
        "extend", sql, params, first, request, lambda answer: parse_time(answer["extends"][0]["deadline"]), True
    )


# Many claims at once: a worker's. All or none of them happen.

_ITEMS = (
    "from jsonb_to_recordset(%s::jsonb) as i (claim_id bigint, ids bigint[], delay interval, reason text, result jsonb)"
)
_ACK_ALL = f"select weir.ack(%s, i.claim_id, i.ids) {_ITEMS}"
_ACK_ALL_OWN = f"select {{function}}(i.claim_id, i.ids) {_ITEMS}"
_NACK_ALL = f"select weir.nack(%s, i.claim_id, i.ids, i.delay, i.reason) {_ITEMS}"
_REJECT_ALL = f"select weir.reject(%s, i.claim_id, i.ids, i.reason) {_ITEMS}"
_RELEASE_ALL = f"select weir.release(%s, i.claim_id, i.ids) {_ITEMS}"
_SNOOZE_ALL = f"select weir.snooze(%s, i.claim_id, i.ids, i.delay) {_ITEMS}"
_FINISH_ALL = f"select weir.finish(%s, i.claim_id, i.ids[1], i.result) {_ITEMS}"
_SETTLE_ALL = {
    "ack": _ACK_ALL,
    "nack": _NACK_ALL,
    "reject": _REJECT_ALL,
    "release": _RELEASE_ALL,
    "snooze": _SNOOZE_ALL,
    "finish": _FINISH_ALL,
}
_EXTEND_ALL = "select weir.extend(%s, i.claim_id, %s::interval) from unnest(%s::bigint[]) as i (claim_id)"


def settle(kind: str, queue: str, group: str, items: Sequence[Settlement]) -> Call[None]:
    """Ack, nack, reject, release, snooze or finish messages of many claims."""
    given = [
        fields(
            claim_id=item.claim_id,
            ids=None if item.ids is None else list(item.ids),
            # In seconds, since before 15 an interval takes no number beyond an int4.
            delay=None if item.delay is None else f"{millis(item.delay) / 1000} seconds",
            reason=item.reason,
            result=item.result,
        )
        for item in items
    ]
    text = json_text(given)

    def request() -> Request:
        return Request("POST", f"{group_path(queue, group)}/{kind}", _settled_over_http(kind, items))

    own = OwnCall(queue, kind, _ACK_ALL_OWN, [text]) if kind == "ack" else None
    return Call(kind, lambda: (_SETTLE_ALL[kind], [queue, text]), nothing, request, nothing, kind == "ack", own)


def _settled_over_http(kind: str, items: Sequence[Settlement]) -> Json:
    if kind == "finish":
        jobs = [fields(claim_id=i.claim_id, id=i.ids[0], result=i.result) for i in items if i.ids]
        return {"jobs": jobs}
    sent = [
        fields(
            claim_id=item.claim_id,
            ids=None if item.ids is None else list(item.ids),
            delay_ms=ms(item.delay),
            reason=item.reason,
        )
        for item in items
    ]
    return {f"{kind}s": sent}


def extend_all(queue: str, group: str, claim_ids: Sequence[int], lease: Duration) -> Call[None]:
    """Give many claims more time."""
    items = [{"claim_id": claim, "lease_ms": millis(lease)} for claim in claim_ids]
    request = Request("POST", f"{group_path(queue, group)}/extend", {"extends": items})
    params = [queue, span(lease), list(claim_ids)]
    return written("extend", _EXTEND_ALL, params, nothing, request, nothing, True)
