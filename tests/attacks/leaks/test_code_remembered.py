"""What was found out about code once is found out again where it may have changed: nothing kept makes a name stale."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression

from unworn.queries.code.code_digest import digest_code
from unworn.queries.code.origins import Files


class Model(LogisticRegression):
    """The asker's own, on top of an installed class."""


@pytest.fixture
def model() -> LogisticRegression:
    return LogisticRegression().fit([[0.0], [1.0]], [0, 1])


def put(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, value: Any) -> None:
    monkeypatch.setattr(owner, name, value, raising=False)


def patches() -> Iterator[tuple[type, str, Any]]:
    """Code of the asker's in an installed class, or in one it derives from, however it is wrapped."""

    def predict(self: Any, X: Any) -> Any:
        return [1] * len(X)

    for owner in LogisticRegression.__mro__[:-1]:
        yield owner, "decision_function", predict
        yield owner, "predict_later", property(predict)
        yield owner, "predict_later", staticmethod(predict)
        yield owner, "predict_later", functools.partialmethod(predict)
        yield owner, "coef_of_mine", type("Callable", (), {"__call__": predict})()


@pytest.mark.parametrize("place", range(5 * (len(LogisticRegression.__mro__) - 1)))
def test_a_patch_after_a_first_look_is_seen(
    model: LogisticRegression, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name, value = list(patches())[place]
    for thing in (model, Model().fit([[0.0], [1.0]], [0, 1])):
        before = digest_code(thing)
        assert digest_code(thing) == before
        with monkeypatch.context() as patched:
            put(patched, owner, name, value)
            assert digest_code(thing) != before
            assert digest_code(thing) == digest_code(thing)
        assert digest_code(thing) == before


def test_one_patch_after_another_is_another(model: LogisticRegression, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [digest_code(model)]
    for source in ("lambda self, X: X", "lambda self, X: -X", "lambda self, X: None"):
        monkeypatch.setattr(LogisticRegression, "predict", eval(source, {"__name__": "__main__"}))
        seen.append(digest_code(model))
    assert len(set(seen)) == 4


def test_what_a_wrapper_holds_is_looked_at_each_time(
    model: LogisticRegression, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrapper whose function can be exchanged in place is no other object afterwards."""
    wrapper = functools.cached_property(LogisticRegression.predict)
    monkeypatch.setattr(LogisticRegression, "wrapped_later", wrapper, raising=False)
    before = digest_code(model)
    assert digest_code(model) == before
    wrapper.func = lambda self: self  # type: ignore[assignment]
    assert digest_code(model) != before


def test_a_file_that_appears_later_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.utime(tmp_path, (1.0, 1.0))  # long ago, so that its names are kept
    before = digest_code({"weights": "w.bin"})
    assert digest_code({"weights": "w.bin"}) == before
    (tmp_path / "w.bin").write_bytes(b"1")
    first = digest_code({"weights": "w.bin"})
    assert first != before
    (tmp_path / "w.bin").unlink()
    assert digest_code({"weights": "w.bin"}) == before


def test_another_working_directory_has_other_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)
        os.utime(tmp_path / name, (1.0, 1.0))
    found = []
    for name in ("one", "two", "one"):
        monkeypatch.chdir(tmp_path / name)
        found.append(Files().here)
    assert found == [{"one.txt"}, {"two.txt"}, {"one.txt"}]


def test_a_directory_that_is_gone_has_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert Files().here == frozenset()
