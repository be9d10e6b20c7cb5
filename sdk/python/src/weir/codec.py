"""Payloads between JSON and the caller's types: dataclasses, pydantic models, and what those are made of."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, Union
from uuid import UUID

from weir.errors import PayloadError

# Types that JSON has no word for: written with str or isoformat, read by these.
_FROM_TEXT: dict[type, Callable[[str], Any]] = {
    datetime: lambda text: datetime.fromisoformat(text.replace("Z", "+00:00")),
    date: date.fromisoformat,
    time: time.fromisoformat,
    UUID: UUID,
    Decimal: Decimal,
}
_PLAIN = (str, int, float, bool, type(None))


def encode(value: Any) -> Any:
    """Return what the module json can write."""
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [encode(item) for item in value]
    if hasattr(value, "model_dump"):  # pydantic
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"a payload cannot hold {type(value).__name__}: {value!r}")


def decode(value: Any, wanted: Any) -> Any:
    """Return JSON as the wanted type, or raise PayloadError with the place that does not fit."""
    if wanted is Any or wanted is None:
        return value
    if hasattr(wanted, "model_validate"):
        try:
            return wanted.model_validate(value)
        except ValueError as error:
            raise PayloadError(f"payload does not fit {wanted.__name__}: {error}") from error
    return _decode(value, wanted, "payload")


def _decode(value: Any, wanted: Any, place: str) -> Any:
    origin, args = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted is Any or wanted is object:
        return value
    if origin is typing.Annotated:
        return _decode(value, args[0], place)
    if origin is Literal:
        if value in args:
            return value
        raise _misfit(value, wanted, place)
    if origin in (Union, types.UnionType):
        return _one_of(value, args, place, wanted)
    if origin is not None:
        return _container(value, origin, args, place)
    if dataclasses.is_dataclass(wanted):
        return _dataclass(value, wanted, place)
    if hasattr(wanted, "model_validate"):
        return decode(value, wanted)
    return _scalar(value, wanted, place)


def _one_of(value: Any, choices: Sequence[Any], place: str, wanted: Any) -> Any:
    for choice in choices:
        try:
            return _decode(value, choice, place)
        except PayloadError:
            continue
    raise _misfit(value, wanted, place)


def _container(value: Any, origin: Any, args: Sequence[Any], place: str) -> Any:
    if issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _misfit(value, origin, place)
        return {key: _decode(item, args[1], f"{place}.{key}") for key, item in value.items()}
    if not isinstance(value, list):
        raise _misfit(value, origin, place)
    if issubclass(origin, tuple) and not (len(args) == 2 and args[1] is ...):
        if len(value) != len(args):
            raise PayloadError(f"{place} has {len(value)} items, not {len(args)}")
        return tuple(_decode(item, arg, f"{place}[{i}]") for i, (item, arg) in enumerate(zip(value, args, strict=True)))
    items = [_decode(item, args[0], f"{place}[{i}]") for i, item in enumerate(value)]
    return items if issubclass(list, origin) else origin(items)


def _dataclass(value: Any, wanted: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise _misfit(value, wanted, place)
    given = {}
    for name, (hint, required) in _fields(wanted).items():
        if name in value:
            given[name] = _decode(value[name], hint, f"{place}.{name}")
        elif required:
            raise PayloadError(f"{place}.{name} is missing")
    try:
        return wanted(**given)
    except (TypeError, ValueError) as error:  # its own __post_init__
        raise PayloadError(f"{place}: {error}") from error


@lru_cache(maxsize=1024)
def _fields(wanted: type) -> dict[str, tuple[Any, bool]]:
    hints = typing.get_type_hints(wanted, include_extras=True)
    missing = dataclasses.MISSING
    return {
        field.name: (hints[field.name], field.default is missing and field.default_factory is missing)
        for field in dataclasses.fields(wanted)
        if field.init
    }


def _scalar(value: Any, wanted: Any, place: str) -> Any:
    if wanted in _FROM_TEXT or (isinstance(wanted, type) and issubclass(wanted, Enum)):
        read = _FROM_TEXT.get(wanted, wanted)
        try:
            return read(value if isinstance(wanted, type) and issubclass(wanted, Enum) else str(value))
        except (ValueError, ArithmeticError) as error:
            raise _misfit(value, wanted, place) from error
    if wanted is type(None) and value is None:
        return None
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(wanted, type) and isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)):
        return value
    raise _misfit(value, wanted, place)


def _misfit(value: Any, wanted: Any, place: str) -> PayloadError:
    name = getattr(wanted, "__name__", None) or str(wanted)
    return PayloadError(f"{place} is {type(value).__name__} {value!r:.80}, not {name}")
