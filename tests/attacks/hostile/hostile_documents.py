"""Calls that read what others wrote: cards, entries, domains, workloads, command lines."""

from __future__ import annotations

import json
from typing import Any

from tests.attacks.hostile.hostile_arguments import Arguments
from tests.attacks.hostile.hostile_values import SQL, sign_again, sign_release_again
from tests.attacks.hostile.judged_calls import Call
from unworn.basics.display import show_value
from unworn.ledger import Entry
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.release.release_certificate import ReleaseCertificate
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import from_json as workload_from_json


class Documents(Arguments):
    """Documents of strangers, changed in a few places, and signed again."""

    cards: list[Any]
    card: Any
    release: Any

    def call_card(self) -> Call:
        """Weight: ****."""
        card = json.loads(json.dumps(self.rng.choice(self.cards)))
        places = [card, card["terms"]["body"], card["terms"]["body"]["mechanism"], card["entry"]["body"]["offer"]]
        for _ in range(self.rng.choice([1, 1, 2, 4])):
            self.spoil(self.rng.choice(places))
        signed = self.rng.random() < 0.7

        def run() -> Any:
            if signed:
                certificate = sign_again(card)
                if certificate is None:
                    return None
                certificate.verify()
                certificate = Certificate.from_json(json.loads(json.dumps(certificate.to_json())))
            else:
                certificate = Certificate.from_json(card)
            certificate.verify()
            return Answer.of(certificate).row(), certificate._repr_html_()

        return f"card {show_value(card, 300)}", run

    def call_release_card(self) -> Call:
        """Weight: *."""
        card = json.loads(json.dumps(self.release))
        places = [card, card["terms"]["body"], card["terms"]["body"]["mechanism"]]
        for _ in range(self.rng.choice([1, 1, 2])):
            self.spoil(self.rng.choice(places))
        signed = self.rng.random() < 0.8

        def run() -> Any:
            if not signed:
                return ReleaseCertificate.from_json(card)
            certificate = sign_release_again(card)
            if certificate is None:
                return None
            certificate.verify()
            return certificate._repr_html_()

        return f"release card {show_value(card, 300)}", run

    def spoil(self, data: Any) -> None:
        """Put something else into one place of a document."""
        place = data
        for _ in range(self.rng.choice([1, 2, 3, 4, 5])):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                return
            key = self.rng.choice(keys)
            if isinstance(place[key], dict | list) and self.rng.random() < 0.85:
                place = place[key]
                continue
            value = self.any()
            plain = type(value) in (int, float, bool, str, list, dict, type(None))
            place[key] = value if plain else str(type(value))
            return

    def call_card_text(self) -> Call:
        text = json.dumps(self.card, indent=2, ensure_ascii=False)
        at = self.rng.randrange(len(text))
        piece = self.rng.choice(
            ['"', "{", "[", "NaN", "1e999", "9" * 500, "\x00", "\ud800", ",", '"format":1,', "\\u0"]
        )
        text = text[:at] + piece + text[at + self.rng.randrange(3) :]
        path = self.folder / "card.json"

        def run() -> Any:
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            return Certificate.load(path)

        return f"card text with {show_value(piece, 20)} at {at}", run

    def call_entry_line(self) -> Call:
        text = json.dumps(self.card["entry"], sort_keys=True, separators=(",", ":"))
        at = self.rng.randrange(len(text))
        line = text[:at] + self.rng.choice(SQL) + text[at:]
        return f"entry line {show_value(line, 200)}", lambda: Entry.from_line(line)

    def call_domain(self) -> Call:
        """Weight: *."""
        column = self.rng.choice([
            [0, 1], [], ["u", "v", None], self.any(), {"edges": [0, 1, self.number()]}, {"edges": self.any()},
            {"values": self.any(), "missing": self.any()}, {"edges": [0, 1], "whole": self.any()}, [self.any()],
            [self.number(), self.number()],
        ])  # fmt: skip
        given = self.rng.choice([{self.key(): column}, {"a": column, "origin": self.any()}, self.any()])
        return f"Domain({show_value(given, 150)})", lambda: repr(Domain(given))

    def call_workload(self) -> Call:
        data = {"workload": self.text(), "order": self.any(), "columns": self.any(), "parts": self.any()}
        data |= {self.rng.choice(["questions", "column", "axes"]): self.any()}
        return f"workload({show_value(data, 150)})", lambda: workload_from_json(self.rng.choice([data, self.any()]))

    def call_command(self) -> Call:
        """The command line, in this process."""
        words = {
            "plan": ["--rows", "--asks", "--width", "--surprises", "--confidence"],
            "ask": ["--guess", "--range", "--name", "--by", "--asks", "--confidence", "--quote"],
            "verify": ["--ledger", "--head"],
            "ledger": ["--name", "--last"],
        }
        verb = self.rng.choice(sorted(words))
        given = [verb, *([str(self.folder / "none.csv"), self.sql()] if verb == "ask" else [])]
        for word in self.rng.sample(words[verb], self.rng.randrange(3)):
            given += [word, show_value(self.any(), 3000)]
        given = [word for word in given if "\ud800" not in word]
        return f"unworn {show_value(given, 200)}", lambda: _run_command(given)


def _run_command(words: list[str]) -> None:
    from typer.testing import CliRunner

    from unworn.cli import app

    told = CliRunner().invoke(app, words)
    if told.exit_code == 1 or (told.exception is not None and not isinstance(told.exception, SystemExit)):
        raise AssertionError(f"exit code {told.exit_code}: {told.output[-300:]}")
