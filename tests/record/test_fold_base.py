from __future__ import annotations

import copy
from typing import Any

import pytest

from unworn.errors import Tampered
from unworn.ledger import Key
from unworn.ledger.checkpoint import Checkpoint
from unworn.mechanisms import GuessAndCheck
from unworn.record.fold_base import FoldBase, Step, is_close
from unworn.record.question_index import QuestionIndex, index_run, write_run

HOLDOUT, KEY = "ab" * 16, Key(bytes(range(32)))
STATE = GuessAndCheck().begin(1_000, 0.95)


def steps(count: int, start: int = 1) -> list[Step]:
    return [Step(f"{place:064x}", STATE, (f"q{place}", None), None, None) for place in range(start, start + count)]


def begun() -> FoldBase:
    return FoldBase(0, "0" * 64, STATE, QuestionIndex(HOLDOUT))


def retold(kept: Checkpoint, change: Any) -> Checkpoint:
    """The same, told otherwise, by somebody who has the key."""
    told = {name: value for name, value in kept.read(KEY.public).items() if name not in ("checkpoint", "holdout")}
    told.pop("questions")
    change(told)
    return Checkpoint.seal(kept.holdout, kept.index, told, kept.questions, KEY)


def test_a_checkpoint_is_followed_to_where_the_steps_lead() -> None:
    first, after = begun().seal(steps(5), KEY)
    second, end = after.seal(steps(4, 6), KEY)
    found = begun().follow(first, KEY.public).follow(second, KEY.public)
    assert (found.index, found.hash, found.state) == (end.index, end.hash, end.state) == (9, f"{9:064x}", STATE)
    assert [list(found.questions.find((f"q{place}", None))) for place in range(11)] == [
        [], *([place] for place in range(1, 10)), []
    ]  # fmt: skip
    with pytest.raises(Tampered, match="does not follow the one before it"):
        begun().follow(second, KEY.public)


@pytest.mark.parametrize("places", [(5, 6), (6, 10), (0, 6), (2, 9)])
def test_one_that_names_entries_of_another_is_refused(places: tuple[int, int]) -> None:
    """Its own are those after the checkpoint before it, up to itself: 6 to 9."""
    after = begun().after(steps(5))
    second, _ = after.seal(steps(4, 6), KEY)
    told = {name: value for name, value in second.read(KEY.public).items() if name != "questions"}
    low, high = places
    names = [("q", None)] + [None] * (high - low - 1) + [("r", None)]
    other = Checkpoint.seal(HOLDOUT, 9, told, write_run(index_run(HOLDOUT, names, low)), KEY)
    with pytest.raises(Tampered, match="names entries that are not its own"):
        after.follow(other, KEY.public)
    assert after.follow(second, KEY.public).index == 9


def test_every_number_that_is_told_otherwise_is_found() -> None:
    kept, after = begun().seal(steps(3), KEY)
    after.check(kept, begun(), KEY.public)
    state = kept.read(KEY.public)["state"]
    numbers = [name for name, value in state.items() if type(value) in (int, float)]
    assert {"asked", "nats", "rows"} <= set(numbers)

    def raised(name: str) -> Any:
        return lambda told: told["state"].update({name: told["state"][name] + 1})

    changes = [raised(name) for name in numbers]
    changes += [lambda told, place=place: told["state"]["pattern"].__setitem__(place, 0.125) for place in range(6)]
    changes += [lambda told: told["state"]["pattern"].pop(), lambda told: told.update(head="1" * 64)]
    for change in changes:
        with pytest.raises(Tampered, match="says what does not follow from the entries"):
            after.check(retold(kept, change), begun(), KEY.public)


VALUE: dict[str, Any] = {"a": [1, 2.0, ["x", None, True]], "b": {"c": (3.0, "y")}}


def test_what_is_close_differs_by_the_last_bits_of_floats_only() -> None:
    other = copy.deepcopy(VALUE)
    assert is_close(other, VALUE)
    other["a"][1] *= 1 + 1e-12
    assert is_close(other, VALUE)
    for path, wrong in ((("a", 0), 2), (("a", 1), 2.0001), (("a", 2), ["x", None]), (("a", 2), ["z", None, True])):
        changed = copy.deepcopy(VALUE)
        changed[path[0]][path[1]] = wrong
        assert not is_close(changed, VALUE)
        assert not is_close(VALUE, changed)
    assert not is_close({**VALUE, "d": 1}, VALUE)
    assert not is_close({"a": VALUE["a"]}, VALUE)
    assert not is_close("ab", ["a", "b"])
    assert not is_close(1, 1.5)
