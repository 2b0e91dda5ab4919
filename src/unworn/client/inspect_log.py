"""A log of Inspect AI as a submission: what a model said to each sample, by the sample's id.

Inspect itself is not needed. Both of its formats are read: ``.eval`` (a zip file of JSON) and ``.json``. A log is data
that somebody else made: it is read within limits, nothing in it is run, and nothing but ids and answers is taken from
it. The scores in it are not: they were made where the answers were, and the board makes its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unworn.basics.display import show_line, show_value
from unworn.client.zip_entries import ZipEntries, ZipFault
from unworn.errors import UnwornError

_SAMPLE = re.compile(r"samples/[^/]{1,500}\.json").fullmatch
_ATTACHED = "attachment://"
MOST_SAMPLES, MOST_SAMPLE, MOST_IN_ALL, MOST_JSON = 1_000_000, 2**26, 2**32, 2**30
LONGEST = 2**20
"""Characters of the longest answer."""


class UnreadableLog(UnwornError, ValueError):
    """A file is not a log of Inspect, or not one that can be submitted."""


@dataclass(frozen=True)
class InspectLog:
    """What a log says: the task, the model, and an answer for each id."""

    task: str
    model: str
    ids: tuple[str, ...]
    answers: tuple[str, ...]

    def columns(self, id: str = "id", prediction: str = "prediction") -> dict[str, list[str]]:
        """A submission: two columns under the names that the board has for them."""
        return {id: list(self.ids), prediction: list(self.answers)}


def is_inspect_log(path: Path) -> bool:
    """Whether a file is meant to be one, by its name."""
    return path.suffix.lower() in (".eval", ".json")


def read_inspect_log(path: str | Path, *, answer: str | None = None, epoch: int | None = None) -> InspectLog:
    """The answers in a log.

    An answer is the model's whole completion; with ``answer``, the name of a scorer of the log, what that scorer found
    in it (a choice, a number). Of a log with several epochs ``epoch`` says which.
    """
    where = Path(path)
    try:
        header, samples = _open_zip(where) if where.suffix.lower() == ".eval" else _open_json(where)
        return _collect(where, header, samples, answer, epoch)
    except OSError as error:
        raise UnreadableLog(f"the log {show_line(where)[:200]} cannot be read: {error.strerror}") from None
    except (ZipFault, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as why:
        raise UnreadableLog(f"{show_line(where)[:200]} is not a log of Inspect that can be read: {why}") from None


def _collect(
    where: Path, header: dict[str, Any], samples: Iterator[dict[str, Any]], answer: str | None, epoch: int | None
) -> InspectLog:
    """All answers of a log that came to its end."""
    status, eval_ = header.get("status"), header.get("eval")
    if not isinstance(eval_, dict):
        raise UnreadableLog(f"{show_line(where)[:200]} is not a log of Inspect: it does not say of which eval")
    if status != "success":
        raise UnreadableLog(
            f"this log is of an eval that ended with {show_value(status)}, not with success.\n"
            "  Run it to its end (inspect eval-retry), and submit that log."
        )
    found: dict[str, str] = {}
    epochs = set()
    for sample in samples:
        name, turn = _id_of(sample), sample.get("epoch", 1)
        if epoch is not None and turn != epoch:
            continue
        epochs.add(turn)
        if name in found:
            raise UnreadableLog(
                f"the sample {show_value(name)} appears twice: {len(epochs)} epochs.\n"
                "  Say which of them to submit, as in epoch=1."
            )
        found[name] = _answer_of(sample, name, answer)
        if len(found) > MOST_SAMPLES:
            raise UnreadableLog(f"this log has more than {MOST_SAMPLES:,} samples")
    if not found:
        raise UnreadableLog("this log has no samples" + ("" if epoch is None else f" of epoch {epoch}"))
    return InspectLog(_text(eval_.get("task")), _text(eval_.get("model")), tuple(found), tuple(found.values()))


def _open_zip(where: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    entries = ZipEntries(where, most_entries=2 * MOST_SAMPLES, most_bytes=MOST_SAMPLE, most_in_all=MOST_IN_ALL)
    try:
        if "header.json" not in set(entries.names()):
            raise UnreadableLog("this log has no header: its eval has not come to an end")
        header = _object(entries.read("header.json"))
    except BaseException:
        entries.close()
        raise

    def samples() -> Iterator[dict[str, Any]]:
        try:
            for name in entries.names():
                if _SAMPLE(name):
                    yield _object(entries.read(name))
        finally:
            entries.close()

    return header, samples()


def _open_json(where: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    if where.stat().st_size > MOST_JSON:
        raise UnreadableLog(
            f"{show_line(where)[:200]} has more than {MOST_JSON:,} bytes: make an .eval log of it (inspect log convert)"
        )
    whole = json.loads(where.read_bytes(), parse_constant=lambda word: None)
    if not isinstance(whole, dict) or not {"eval", "samples", "status"} & set(whole):
        raise UnreadableLog(
            f"{show_line(where)[:200]} is not a log of Inspect. Predictions in JSON are JSON lines: an object on each "
            "line, in a file that ends in .jsonl"
        )
    samples = whole.get("samples")
    if not isinstance(samples, list):
        raise UnreadableLog("this log has no samples: it is only the header of one")
    return whole, (sample if isinstance(sample, dict) else {} for sample in samples)


def _object(text: bytes) -> dict[str, Any]:
    found = json.loads(text, parse_constant=lambda word: None)  # a score may be NaN, and is not looked at
    if not isinstance(found, dict):
        raise UnreadableLog("a part of this log is not a JSON object")
    return found


def _id_of(sample: dict[str, Any]) -> str:
    name = sample.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise UnreadableLog(f"a sample of this log has no id: {show_value(name)}")
    return str(name)


def _answer_of(sample: dict[str, Any], name: str, scorer: str | None) -> str:
    """What a sample was answered with: text, as the model or as a scorer's reading of it has it."""
    if sample.get("error") is not None:
        raise UnreadableLog(f"the sample {show_value(name)} ended in an error: run it again (inspect eval-retry)")
    if scorer is None:
        output = sample.get("output")
        found = output.get("completion") if isinstance(output, dict) else None
    else:
        scores = sample.get("scores")
        if not isinstance(scores, dict) or not isinstance(scores.get(scorer), dict):
            there = ", ".join(scores) if isinstance(scores, dict) and scores else "none"
            raise UnreadableLog(
                f"the sample {show_value(name)} has no score by {show_value(scorer)}; there are: "
                f"{show_line(there)[:200]}"
            )
        found = scores[scorer].get("answer")
    if isinstance(found, str) and found.startswith(_ATTACHED):
        attachments = sample.get("attachments")
        found = attachments.get(found.removeprefix(_ATTACHED)) if isinstance(attachments, dict) else None
    if not isinstance(found, str) or len(found) > LONGEST or "\0" in found:
        what = "no answer" if found is None else "an answer that is not text of a reasonable size"
        raise UnreadableLog(f"the sample {show_value(name)} has {what}")
    return found


def _text(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""
