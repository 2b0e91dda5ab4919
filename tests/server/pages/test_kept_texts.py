from __future__ import annotations

import threading
import time

import pytest

from unworn.server.pages.kept_texts import KeptTexts


def test_a_text_is_made_once_for_each_version() -> None:
    texts, times = KeptTexts(), list[int]()

    def make() -> str:
        times.append(1)
        return "<svg/>"

    for version in (1, 1, 2, 1):
        assert texts.get(("bench", version), make) == "<svg/>"
    assert len(times) == 2


def test_many_who_want_the_same_wait_for_one() -> None:
    texts, times = KeptTexts(), list[int]()

    def make() -> str:
        times.append(1)
        time.sleep(0.02)
        return "text"

    threads = [threading.Thread(target=texts.get, args=("head", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 1


def test_what_fails_is_not_kept() -> None:
    texts = KeptTexts()
    with pytest.raises(ZeroDivisionError):
        texts.get("head", lambda: str(1 / 0))
    assert texts.get("head", lambda: "text") == "text"


def test_the_oldest_go_first() -> None:
    texts = KeptTexts()
    for version in range(300):
        texts.get(version, lambda: "old")
    assert texts.get(0, lambda: "new") == "new"
    assert texts.get(299, lambda: "new") == "old"
