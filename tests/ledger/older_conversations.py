"""Conversations as they were held before Theorem C′: every mechanism that answers by words, every form of entry.

The files in ``data/theorem_c`` were written by ``python -m tests.ledger.older_conversations`` when the package still
priced them by Theorem C. Run again, today's package would write other ones: they are kept, not made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unworn import Holdout, accuracy, col, compare, function, mae, mean, share
from unworn.basics.json_text import canonical
from unworn.errors import Failed
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import AboveThreshold, GuessAndCheck, Ladder, Mechanism, PairedLadder, Rounding

FOLDER = Path(__file__).parent / "data" / "theorem_c"
ROWS = 600
X = {"a": (np.arange(ROWS) * 7_919 % 10_007) / 10_007, "b": (np.arange(ROWS) * 104_729 % 9_973) / 9_973}
Y = (X["a"] > 0.4).astype(int)


def predictions(right: float, start: int = 0) -> np.ndarray:
    """Of which this share is right, counted from a row."""
    return np.where((np.arange(ROWS) - start) % ROWS < round(right * ROWS), Y, 1 - Y)


def broken(columns: Any) -> Any:
    raise RuntimeError("on purpose")


def guess_and_check(holdout: Holdout) -> None:
    agreed = holdout.ask(share(col("a") > 0.5), guess=0.5)
    holdout.ask(share(col("a") > 0.8), guess=0.5)
    holdout.ask(share(col("b") > 0.2), guess=0.6)
    holdout.ask(share(col("b") > 0.9))
    holdout.sharpen(agreed)
    holdout.sharpen(holdout.sharpen(holdout.ask(mean(col("a").fill(0), range=(0, 1)), guess=0.45, guess_se=0.05)))
    holdout.score(predictions(0.8), name="first")
    holdout.score(predictions(0.81), name="second")  # guessed by the answer before
    holdout.compare(predictions(0.9), predictions(0.85), discordance=0.1)
    holdout.compare(predictions(0.9), predictions(0.5, 100))
    holdout.ask_many([share(col("a") > cut / 10) for cut in range(1, 5)], [0.9, 0.2, None, 0.6])
    holdout.test(share(col("b") > 0.5), above=0.4)
    holdout.test(share(col("b") > 0.6), 0.01, above=0.5)
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails"))
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails with a guess"), guess=0.5)
    holdout.ask(function(lambda columns: columns["a"], range=(0, 1), name="works"), guess=0.5)


def rounding(holdout: Holdout) -> None:
    for cut in (0.1, 0.5, 0.9):
        holdout.ask(share(col("a") > cut))
    holdout.ask_many([mean(col("b").fill(0), range=(0, 2)), share(col("b") > 0.3)])
    holdout.test(share(col("b") > 0.5), above=0.2)
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails"))


def above_threshold(holdout: Holdout) -> None:
    for cut in (0.9, 0.7, 0.4, 0.8, 0.2):
        holdout.ask(share(col("a") > cut))
    holdout.ask_many([share(col("b") > 0.6), share(col("b") > 0.1)])
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails"))


def ladder(holdout: Holdout) -> None:
    for right in (0.45, 0.6, 0.55, 0.8, 0.81, 0.95):
        holdout.ask(accuracy(predictions(right)))
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails"))


def losses(holdout: Holdout) -> None:
    for off in (3.0, 2.0, 2.5, 0.5):
        holdout.ask(mae(Y + off, range=(0, 5)))


def paired_ladder(holdout: Holdout) -> None:
    holdout.compare(predictions(0.9), predictions(0.8))
    holdout.compare(predictions(0.8), predictions(0.9))
    pairs = [(0.95, 0.7), (0.7, 0.71)]
    holdout.ask_many([compare(accuracy(predictions(a)), accuracy(predictions(b, 50))) for a, b in pairs])


@dataclass(frozen=True)
class Conversation:
    """A mechanism, the planned asks, what was said, and another question to go on with."""

    mechanism: Mechanism
    asks: int | None
    talk: Callable[[Holdout], None]
    more: Callable[[Holdout], Any]


def one_share(holdout: Holdout) -> Any:
    return holdout.ask(share(col("b") > 0.55), guess=0.45)


def one_score(holdout: Holdout) -> Any:
    return holdout.ask(accuracy(predictions(0.97)))


def one_loss(holdout: Holdout) -> Any:
    return holdout.ask(mae(Y + 0.25, range=(0, 5)))


def one_comparison(holdout: Holdout) -> Any:
    return holdout.compare(predictions(0.99), predictions(0.6))


CONVERSATIONS = {
    "guess_and_check": Conversation(GuessAndCheck(), None, guess_and_check, one_share),
    "guess_and_check_planned": Conversation(GuessAndCheck(), 40, guess_and_check, one_share),
    "guess_and_check_configured": Conversation(
        GuessAndCheck(z=2.0, cell=0.03, pieces=5), 40, guess_and_check, one_share
    ),
    "rounding": Conversation(Rounding(12), None, rounding, one_share),
    "rounding_planned": Conversation(Rounding(12), 20, rounding, one_share),
    "above_threshold": Conversation(AboveThreshold(0.5, tops=None), None, above_threshold, one_share),
    "above_threshold_planned": Conversation(AboveThreshold(0.5, tops=9), 30, above_threshold, one_share),
    "ladder": Conversation(Ladder(0.05, baseline=0.5), None, ladder, one_score),
    "ladder_planned": Conversation(Ladder(0.05, baseline=0.5), 30, ladder, one_score),
    "ladder_bit": Conversation(Ladder(0.05, baseline=0.5, feedback="bit"), None, ladder, one_score),
    "ladder_without_a_baseline": Conversation(Ladder(0.05), None, ladder, one_score),
    "ladder_of_losses": Conversation(Ladder(0.1, 4.0, False, range=(0, 5)), None, losses, one_loss),
    "paired_ladder": Conversation(PairedLadder(), None, paired_ladder, one_comparison),
    "paired_ladder_heuristic": Conversation(PairedLadder("heuristic"), 20, paired_ladder, one_comparison),
}


def store_of(name: str) -> SeededStore:
    """An empty ledger whose key is the conversation's own."""
    return SeededStore(np.random.default_rng(sum(name.encode())))


def hold(name: str) -> SeededStore:
    """Hold a conversation, in a ledger in memory."""
    conversation, store = CONVERSATIONS[name], store_of(name)
    holdout = Holdout(X, Y, mechanism=conversation.mechanism, asks=conversation.asks, ledger=store)
    conversation.talk(holdout)
    holdout.verify()
    return store


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in CONVERSATIONS:
        (entries,) = ([*store.read(key)] for store in [hold(name)] for key in store.holdouts())
        (folder / f"{name}.jsonl").write_text("".join(f"{canonical(entry.to_json())}\n" for entry in entries))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
