"""Plays the cases of sdk/conformance, with the client of threads and the one of asyncio.

Over SQL, also with every call prepared, and over HTTP, with and without a token.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import weir
from conftest import DSN, TOKEN, TOKEN_URL, URL
from weir.aio import postgres as aio_postgres
from weir.generated import postgres

ROOT = Path(__file__).parents[3]
CASES = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "sdk/conformance/cases").glob("*.json"))}


def ways(case: Any) -> list[str]:
    """Return the ways to the engine that a case is played over."""
    transports = case.get("transports", ["sql", "http"])
    return [
        way for transport in transports for way in {"sql": ["sql", "prepared"], "http": ["http", "token"]}[transport]
    ]


PLAYS = [
    pytest.param(case, transport, flavour, id=f"{name}-{transport}-{flavour}")
    for name, case in CASES.items()
    for transport in ways(case)
    for flavour in ("sync", "async")
]


class RolledBack(Exception):
    """Ends a transaction that shall be rolled back."""


async def settle(result: Any) -> Any:
    """Return what a method of either client gives."""
    return await result if inspect.isawaitable(result) else result


class Player:
    """Plays the steps of one case."""

    def __init__(self, client: weir.Client | weir.AsyncClient, steps: list[Any]) -> None:
        self.client = client
        self.steps = steps
        run = uuid.uuid4().hex[:8]
        self.queues = [f"c-{run}-1", f"c-{run}-2", f"c-{run}-3"]
        self.log = f"c_{run}"
        self.variables: dict[str, Any] = {"log": self.log, **dict(zip(("q", "q2", "q3"), self.queues, strict=True))}

    async def play(self) -> None:
        for number, step in enumerate(self.steps):
            try:
                await self.step(step)
            except Exception as error:
                raise AssertionError(f"step {number}: {json.dumps(step, ensure_ascii=False)}: {error!r}") from error

    async def step(self, step: Any) -> None:
        if "error" in step:
            with pytest.raises(weir.Error) as failure:
                await self.do(step)
            assert failure.value.code == step["error"]
            return
        result = await self.do(step)
        if "expect" in step:
            match(plain(result), self.filled(step["expect"]), "result")
        if "save" in step:
            self.variables[step["save"]] = plain(result)

    async def do(self, step: Any) -> Any:
        return await (self.transaction(step) if "transaction" in step else self.call(self.client, step))

    async def transaction(self, step: Any) -> None:
        manager: Any = self.client.transaction()
        with suppress(RolledBack):
            if isinstance(self.client, weir.AsyncClient):
                async with manager as tx:
                    await self.inside(tx, step)
            else:
                with manager as tx:
                    await self.inside(tx, step)

    async def inside(self, tx: Any, step: Any) -> None:
        for inner in step["transaction"]:
            if inner.get("outside"):
                await self.step(inner)
            else:
                result = plain(await self.call(tx, inner))
                if "expect" in inner:
                    match(result, self.filled(inner["expect"]), "result")
                if "save" in inner:
                    self.variables[inner["save"]] = result
        if step.get("rollback"):
            raise RolledBack

    async def call(self, client: Any, step: Any) -> Any:
        args = self.filled(step.get("args", {}))
        make = outgoing if step["call"] == "send_batch" else claimed
        for name in {"messages", "message"} & set(args):
            args[name] = make(args[name])
        for name in [name for name in args if name.endswith("_ms")]:
            args[name.removesuffix("_ms")] = timedelta(milliseconds=args.pop(name))
        return await settle(getattr(client, step["call"])(**args))

    def filled(self, value: Any) -> Any:
        """Put variables where they are named."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        if value.startswith("$$"):
            return value[1:]
        if not value.startswith("$") or value.startswith("${"):
            return re.sub(r"\$\{(\w+)\}", lambda place: str(self.variables[place[1]]), value)
        name, *path = value[1:].split(".")
        found = self.variables[name]
        for part in path:
            found = found[int(part)] if isinstance(found, list) else found[part]
        return found

    async def clean(self) -> None:
        for queue in self.queues:
            with suppress(weir.Error):
                await settle(self.client.drop_queue(queue))
        if any("log" in step.get("args", {}) for step in self.steps):
            with suppress(weir.Error):
                await settle(self.client.drop_log(self.log))


def outgoing(messages: list[Any]) -> list[weir.Outgoing[Any]]:
    return [weir.Outgoing(**message) for message in messages]


def claimed(value: Any) -> Any:
    """Return one message, or several, that a case names by what a receive gave or by their numbers."""
    if isinstance(value, list):
        return [claimed(item) for item in value]
    return weir.Ref(value["claim_id"], value["id"])


def plain(value: Any) -> Any:
    """Turn what the SDK gives into JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(named(field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat()
    return value


def named(name: str, value: Any) -> tuple[str, Any]:
    """Return a field as HTTP has it: ages in seconds, other durations in milliseconds."""
    if not isinstance(value, timedelta):
        return name, plain(value)
    if name in {"oldest_age", "blocker_age"}:
        return f"{name}_s", value.total_seconds()
    return f"{name}_ms", value / timedelta(milliseconds=1)


TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "$set": lambda got, _: got is not None,
    "$length": lambda got, n: len(got) == n,
    "$above": lambda got, n: got > n,
    "$contains": lambda got, want: any(matches(item, want) for item in got),
}


def match(got: Any, want: Any, place: str) -> None:
    """Fail unless a result matches."""
    if isinstance(want, dict) and len(want) == 1 and next(iter(want)).startswith("$"):
        [(name, arg)] = want.items()
        if name == "$exact":
            assert set(got) == set(arg), place
            match(got, arg, place)
        elif name == "$unordered":
            unordered(got, arg, place)
        else:
            assert TESTS[name](got, arg), f"{place} is {got!r}, wanted {want}"
    elif isinstance(want, dict):
        assert isinstance(got, dict), f"{place} is {got!r}, wanted {want}"
        for key, item in want.items():
            match(got.get(key), item, f"{place}.{key}")
    elif isinstance(want, list):
        assert isinstance(got, list), f"{place} is {got!r}, wanted {want}"
        assert len(got) == len(want), f"{place} is {got!r}, wanted {want}"
        for i, item in enumerate(want):
            match(got[i], item, f"{place}[{i}]")
    else:
        same = got == want and isinstance(got, bool) == isinstance(want, bool)
        assert same, f"{place} is {got!r}, wanted {want!r}"


def matches(got: Any, want: Any) -> bool:
    try:
        match(got, want, "item")
    except AssertionError:
        return False
    return True


def unordered(got: list[Any], want: list[Any], place: str) -> None:
    assert len(got) == len(want), f"{place} is {got!r}, wanted {want}"
    left = list(got)
    for item in want:
        like = [candidate for candidate in left if matches(candidate, item)]
        assert like, f"{place} has nothing like {item}: {left}"
        left.remove(like[0])


@pytest.mark.parametrize(("case", "way", "flavour"), PLAYS)
async def test_case(case: Any, way: str, flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    token = TOKEN if way == "token" else None
    if way == "prepared":
        monkeypatch.setattr(postgres, "_PREPARE_AFTER", 0)
        monkeypatch.setattr(aio_postgres, "_PREPARE_AFTER", 0)
    target = {"sql": DSN, "prepared": DSN, "http": URL, "token": TOKEN_URL}[way]
    connect = weir.connect if flavour == "sync" else weir.connect_async
    client = connect(target, token=token)
    player = Player(client, case["steps"])
    try:
        await player.play()
    finally:
        await player.clean()
        await settle(client.close() if isinstance(client, weir.Client) else client.aclose())


def test_there_are_cases() -> None:
    assert len(CASES) >= 40
