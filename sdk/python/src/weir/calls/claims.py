"""Calls about what was claimed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from weir.calls.call import (
    Arg,
    Call,
    Query,
    Request,
    field,
    fields,
    first,
    group_path,
    json_text,
    ms,
    parse_time,
    write,
    written,
)
from weir.types import Claimed, Duration, Json, Settlement, millis, span


def listed(messages: Claimed | Sequence[Claimed]) -> Sequence[Claimed]:
    """Return one message, or several, as several."""
    return messages if isinstance(messages, Sequence) else [messages]


def group_of(messages: Sequence[Claimed]) -> str | None:
    """Return the group that messages were received for, where they tell; only paths of HTTP have it."""
    return getattr(messages[0], "group", None)


def settlements(
    messages: Sequence[Claimed], delay: Duration | None = None, reason: str | None = None
) -> list[Settlement]:
    """Say what becomes of messages: for each claim in turn, in the order in which they are locked."""
    claims: dict[int, list[int]] = {}
    for message in messages:
        claims.setdefault(message.claim_id, []).append(message.id)
    return [Settlement(claim, tuple(ids), delay, reason) for claim, ids in sorted(claims.items())]


_ITEMS = (
    "from jsonb_to_recordset(%s::jsonb) as i (claim_id bigint, ids bigint[], delay interval, reason text, result jsonb)"
)
_CALLS = {
    "ack": "case when i.ids is null then weir.ack_all(%s, i.claim_id) else weir.ack(%s, i.claim_id, i.ids) end",
    "nack": "weir.nack(%s, i.claim_id, i.ids, i.delay, i.reason)",
    "reject": "weir.reject(%s, i.claim_id, i.ids, i.reason)",
    "release": "weir.release(%s, i.claim_id, i.ids)",
    "snooze": "weir.snooze(%s, i.claim_id, i.ids, i.delay)",
    "finish": "weir.finish(%s, i.claim_id, i.ids[1], i.result)",
}
_SETTLE = {kind: f"select coalesce(sum({call}), 0) {_ITEMS}" for kind, call in _CALLS.items()}
_ACK_ONE = "select weir.ack(%s, %s::bigint, %s::bigint)"


def settle(kind: str, queue: str, group: str | None, items: Sequence[Settlement]) -> Call[int]:
    """Ack, nack, reject, release, snooze or finish messages of claims: all of them, or none when it fails for one."""

    def query() -> Query:
        if kind == "ack" and len(items) == 1 and items[0].ids is not None and len(items[0].ids) == 1:
            return _ACK_ONE, [queue, items[0].claim_id, items[0].ids[0]]
        sql = _SETTLE[kind]
        return sql, [*[queue] * (sql.count("%s") - 1), json_text([_given(item) for item in items])]

    def request() -> Request:
        body = {_word(kind): [_item(kind, item) for item in items]}
        return Request("POST", f"{group_path(queue, group)}/{kind}", body)

    return Call(kind, query, first, request, _counted(kind), kind in {"ack", "finish"})


def _word(kind: str) -> str:
    """Return how a request and its answer call the list."""
    return "jobs" if kind == "finish" else f"{kind}s"


def _given(item: Settlement) -> Json:
    """Return a settlement as a statement has it."""
    return fields(
        claim_id=item.claim_id,
        ids=None if item.ids is None else list(item.ids),
        # In seconds, since before 15 an interval takes no number beyond an int4.
        delay=None if item.delay is None else f"{millis(item.delay) / 1000} seconds",
        reason=item.reason,
        result=item.result,
    )


def _item(kind: str, item: Settlement) -> Json:
    """Return a settlement as a request has it."""
    if kind == "finish":
        return fields(claim_id=item.claim_id, id=item.ids[0] if item.ids else None, result=item.result)
    which = {"all": True} if item.ids is None else {"ids": list(item.ids)}
    return {"claim_id": item.claim_id} | which | fields(delay_ms=ms(item.delay), reason=item.reason)


def _counted(kind: str) -> Callable[[Any], int]:
    """Return what adds up the counts of an answer."""
    word = _word(kind)
    count = "snoozed" if kind == "snooze" else "finished"
    return lambda answer: sum(each[count] for each in answer[word])


def ack_all(queue: str, claim_id: int) -> Call[int]:
    """Ack what of a claim is not finished yet."""
    sql, params = write("ack_all", [Arg("queue_name", "text", queue), Arg("claim_id", "bigint", claim_id)])
    request = Request("POST", f"{group_path(queue, None)}/ack", {"acks": [{"claim_id": claim_id, "all": True}]})
    return written("ack_all", sql, params, first, request, field("acks", 0, "finished"), True)


_EXTEND = "select min(weir.extend(%s, i.claim_id, %s::interval)) from unnest(%s::bigint[]) as i (claim_id)"


def extend(queue: str, group: str | None, claim_ids: Sequence[int], lease: Duration) -> Call[datetime]:
    """Give claims more time, all or none, and return the earliest deadline."""
    items = [{"claim_id": claim, "lease_ms": millis(lease)} for claim in claim_ids]
    request = Request("POST", f"{group_path(queue, group)}/extend", {"extends": items})

    def answer(given: Any) -> datetime:
        return min(parse_time(each["deadline"]) for each in given["extends"])

    params = [queue, span(lease), list(claim_ids)]
    return written("extend", _EXTEND, params, first, request, answer, True)
