from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

import pytest

from unworn.boards.graders.text_graders import (
    canonical_texts,
    chosen_letter,
    normalise_text,
    number_text,
    numbers_in_texts,
)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A", "A"),
        (" b. ", "B"),
        ("(C)", "C"),
        ("Answer: D", "D"),
        ("The answer is (b).", "B"),
        ("The correct answer is B", "B"),
        ("**E**", "E"),
        ("B) because A is wrong", "B"),
        ("I would say C", "C"),
        ("", ""),
        ("nothing", ""),
    ],
)
def test_the_letter_that_is_named(text: str, letter: str) -> None:
    assert chosen_letter(text) == letter


@pytest.mark.parametrize(
    ("one", "other"),
    [("The Beatles", "beatles"), ("a  b", "A B!"), ("ﬁne", "FINE"), ("Straße", "STRASSE"), ("U.S.A.", "usa")],
)
def test_texts_that_mean_the_same_are_equal(one: str, other: str) -> None:
    assert normalise_text(one) == normalise_text(other) != ""


def test_articles_are_words_of_their_own() -> None:
    assert normalise_text("theatre") == "theatre"
    assert normalise_text("another") != normalise_text("other")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42.0),
        ("-1.5", -1.5),
        ("= 1,234,567.8 m", 1234567.8),
        (".5", 0.5),
        ("3e-2", 0.03),
        ("2 of 7", 7.0),
        ("−3", -3.0),
    ],
)
def test_the_last_number_counts(text: str, number: float) -> None:
    assert number_text(text) == number


def test_columns_are_read_in_their_order() -> None:
    assert canonical_texts("exact", [" a", "B "]).tolist() == ["a", "B"]
    told = numbers_in_texts(["1", "none", "1"]).tolist()
    assert told[::2] == [1.0, 1.0]
    assert math.isnan(told[1])


@pytest.mark.parametrize(
    ("text", "number"),
    [("1e1e1", 1.0), ("2e3e4.5", 4.5), ("7e5e", 7e5), ("1e999", math.inf), ("3.e2", 300.0), ("e7", 7.0), ("-.e1", 1.0)],
)
def test_what_only_looks_like_a_number_is_no_error(text: str, number: float) -> None:
    assert number_text(text) == number


def test_any_text_has_a_number_or_none() -> None:
    draw = random.Random(3)
    for _ in range(20_000):
        number_text("".join(draw.choices("0189.,eE+-− \u00a0\u202f١x", k=draw.randint(1, 12))))


LONG = 100_000
"""The longest text that a submission may have (``value_columns_check.LONGEST_TEXT``)."""


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (chosen_letter, "answer" + " " * LONG),
        (chosen_letter, "answer" + " " * (LONG // 2) + ":" + " " * (LONG // 2)),
        (chosen_letter, "(" * LONG),
        (normalise_text, "a" + "\u0300\u0316" * (LONG // 2)),
        (normalise_text, "\u1ec7\u0316\u0344" * (LONG // 3)),
        (number_text, "1e" * (LONG // 2)),
        (number_text, "1,111" * (LONG // 5)),
        (number_text, "1" * LONG),
    ],
)
def test_a_long_text_takes_time_in_proportion_to_its_length(read: Callable[[str], object], text: str) -> None:
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 3.0  # some hundredths of a second; in squares of the length, 8 s to minutes


def test_marks_beyond_any_words_are_left_out_and_others_are_not() -> None:
    assert normalise_text("a" + "\u0316\u0300" * 15) == normalise_text("\u00e0" + "\u0316" * 15 + "\u0300" * 14)
    assert normalise_text("e\u0301") == normalise_text("\u00e9") == "\u00e9"
    assert normalise_text("a" + "\u0300" * 31 + "b") == normalise_text("a" + "\u0300" * 40 + "b")
