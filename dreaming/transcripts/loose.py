"""From any JSON value to a typed record: what does not fit is left out, nothing raises.

The fast way is msgspec's typed decoder, which only builds the fields a source asked for. Where a
record does not fit its type (a number for a string, a list for a text), this is the slow way.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T", bound=msgspec.Struct)


def loosely(value: Any, kind: type[T]) -> T:
    """Return ``kind`` made of whatever in ``value`` fits; everything else keeps its default."""
    if not isinstance(value, Mapping):
        return kind()
    fields = {}
    for field, wanted in _fields(kind):
        name = field.encode_name
        if value.get(name) is not None:
            fitting = _fit(value[name], wanted)
            if fitting is not None:
                fields[field.name] = fitting
    return kind(**fields)


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[msgspec.structs.FieldInfo, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in msgspec.structs.fields(kind))


def _fit(value: Any, wanted: Any) -> Any:
    """Return ``value`` as ``wanted``, or ``None`` where it cannot be."""
    origin = get_origin(wanted)
    if wanted is Any:
        return value
    if origin in (Union, types.UnionType):
        choices = (_fit(value, choice) for choice in get_args(wanted))
        return next((choice for choice in choices if choice is not None), None)
    if origin is list:
        (item,) = get_args(wanted)
        fitting = [_fit(part, item) for part in value] if isinstance(value, list) else None
        return None if fitting is None else [part for part in fitting if part is not None]
    if origin is dict:
        return value if isinstance(value, dict) else None
    if wanted is msgspec.Raw:
        return msgspec.Raw(b"true")
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        return _fit_struct(value, wanted)
    return _fit_simple(value, wanted)


def _fit_struct(value: Any, wanted: type[T]) -> T | None:
    """Return a record; a mere text where a block of text belongs is taken for that block."""
    if isinstance(value, str) and {"type", "text"} <= set(wanted.__struct_fields__):
        value = {"type": "text", "text": value}
    return loosely(value, wanted) if isinstance(value, dict) else None


def _fit_simple(value: Any, wanted: Any) -> Any:
    if wanted is str and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 1e300 else None
    return value if isinstance(wanted, type) and type(value) is wanted else None
