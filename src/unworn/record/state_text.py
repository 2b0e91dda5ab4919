"""A state as JSON and back: for checkpoints, which are read by the version that wrote them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from unworn.basics.json_text import canonical
from unworn.basics.typed_fields import is_number, is_text, is_whole, read_fields
from unworn.bounds.code_length import Pattern
from unworn.mechanisms.contract.mechanism import State

_FIELDS = tuple(field.name for field in fields(State))


def state_to_json(state: State) -> dict[str, Any]:
    """Its fields by name.

    >>> state = State(100, -3.0, pattern=Pattern().after("asker", surprise=False))
    >>> state_from_json(state_to_json(state)) == state
    True
    """
    if type(state) is not State:
        raise ValueError(f"a {type(state).__name__} is not kept in checkpoints")
    return {name: getattr(state, name) for name in _FIELDS}


def state_from_json(told: Any) -> State:
    """The state that was written, to the last bit; ``ValueError`` for what no state is written as."""
    pattern = told["pattern"]
    state = read_fields(State, {**told, "pattern": None if pattern is None else _pattern(pattern)})
    if canonical(state_to_json(state)) != canonical(told):
        raise ValueError("this is not a state as it is written")
    return state


def _pattern(told: Any) -> Pattern:
    values = Pattern(*told)
    origins = tuple((origin, asks, surprises) for origin, asks, surprises in values.origins)
    counts = [count for origin in origins for count in origin[1:]]
    plain = [value for name, value in values._asdict().items() if name not in ("origins", "surprised")]
    if not (
        all(is_text(origin[0]) for origin in origins)
        and all(map(is_whole, counts))
        and all(map(is_number, plain))
        and type(values.surprised) is bool
    ):
        raise ValueError("this is not a pattern of surprises")
    return values._replace(origins=origins)
