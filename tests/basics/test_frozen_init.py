"""Frozen values that are made by assignment are in every other way the dataclasses that they were."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any

import pytest

from unworn.basics.frozen_init import assign_fields
from unworn.events import Described
from unworn.mechanisms.contract.mechanism import Guess, Offer, Published, Reply, State
from unworn.mechanisms.contract.record import Record


@assign_fields
@dataclass(frozen=True, slots=True)
class Slotted:
    kind: str
    self_made: float = 1.5
    both: tuple[int, int] = (0, 1)


@assign_fields
@dataclass(frozen=True)
class Open:
    kind: str
    both: tuple[int, int] = (0, 1)


@dataclass(frozen=True)
class Plain:
    kind: str
    both: tuple[int, int] = (0, 1)


@pytest.mark.parametrize("kind", [Slotted, Open])
def test_a_value_is_frozen_and_of_its_own_class(kind: Any) -> None:
    value = kind("a", both=(2, 3))
    assert type(value) is kind
    assert isinstance(value, kind)
    with pytest.raises(FrozenInstanceError):
        value.kind = "b"
    with pytest.raises(FrozenInstanceError):
        del value.kind
    assert value == kind("a", both=(2, 3)) != kind("a")
    assert hash(value) == hash(kind("a", both=(2, 3)))
    assert replace(value, kind="c") == kind("c", both=(2, 3))
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value


def test_the_constructor_says_and_refuses_what_the_plain_one_does() -> None:
    assert str(inspect.signature(Open)) == str(inspect.signature(Plain)).replace("Plain", "Open")
    for wrong in ((), ("a", (0, 1), 3)):
        with pytest.raises(TypeError, match="argument"):
            Open(*wrong)
    with pytest.raises(TypeError, match="unexpected keyword"):
        Open(kind="a", other=1)  # type: ignore[call-arg]


def test_what_inherits_keeps_its_class_and_its_own_fields() -> None:
    @dataclass(frozen=True)
    class Further(Open):
        more: int = 3

    class Named(Open):
        pass

    further, named = Further("a", more=4), Named("b")
    assert (type(further), further.kind, further.both, further.more) == (Further, "a", (0, 1), 4)
    assert (type(named), named.kind) == (Named, "b")
    with pytest.raises(FrozenInstanceError):
        named.kind = "c"  # type: ignore[misc]


def test_what_does_more_than_keep_its_arguments_is_refused() -> None:
    @dataclass(frozen=True)
    class Checked:
        a: int

        def __post_init__(self) -> None:
            raise ValueError("never reached")

    @dataclass(frozen=True)
    class Made:
        a: list[int] = field(default_factory=list)

    @dataclass(frozen=True)
    class Hidden:
        a: int = field(default=0, init=False)

    for kind in (Checked, Made, Hidden):
        with pytest.raises(TypeError, match="does more than keep"):
            assign_fields(kind)


def test_the_values_of_an_ask_are_made_this_way() -> None:
    """What one ask makes, a hundred fields in all: the benchmark says how long it takes, this that nothing is lost."""
    offer = Offer(1, 100, "binary", 0.0, 1.0, True, False, -3.0)
    for value in (
        Guess(0.5),
        offer,
        Reply(0, Described(False, 0.0)),
        Published(0.5, 0.4, 0.6, "guess"),
        State(9, -3.0),
    ):
        assert hasattr(type(value).__init__, "__wrapped__")
        with pytest.raises(FrozenInstanceError):
            setattr(value, next(iter(type(value).__slots__)), 0)
        assert pickle.loads(pickle.dumps(value)) == value
    assert hasattr(Record.__init__, "__wrapped__")
