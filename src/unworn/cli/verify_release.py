"""``unworn verify`` of a release: its folder, or its certificate alone."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unworn.cli.ledger_lookup import existing
from unworn.cli.output import emit, note, percent, say, say_wrapped
from unworn.errors import Mismatch, Tampered
from unworn.ledger import verify as verify_chain

if TYPE_CHECKING:
    from unworn.record.transcript import Terms
    from unworn.release.release_certificate import ReleaseCertificate

_BEGINNING = 4096
_UNCHECKED = {
    "README.md": "another version wrote this release, and may have worded it otherwise. Do not rely on it.",
    "errors.svg": "a picture depends on who draws it. Release.load(...).chart() draws it from what was signed.",
    "rows.parquet": "Release.load(...).sample(...) draws the rows from what was signed.",
}


def is_of_release(path: Path) -> bool:
    """Whether this is a folder, or a file that says it is a release's certificate."""
    if path.is_dir():
        return True
    try:
        with open(path, encoding="utf-8") as file:
            beginning = file.read(_BEGINNING)
            return '"unworn release' in beginning and _format(beginning + file.read()) is not None
    except (OSError, ValueError, RecursionError):
        return False  # whatever it is, it is complained about as a card


def _format(text: str) -> str | None:
    data = json_.loads(text)
    told = data.get("format") if isinstance(data, dict) else None
    return told if isinstance(told, str) and told.startswith("unworn release") else None


def checked_release(path: Path, ledger: str | None, head: str | None, json: bool) -> None:
    """Check it and say what was checked; ``Tampered`` where it is not what was signed."""
    from unworn.release.folder.release_folder import check_readme, check_sheets, load
    from unworn.release.release_certificate import ReleaseCertificate

    done: list[str] = []
    unchecked: list[str] = []
    if path.is_dir():
        release = load(path)
        certificate = release.certificate
        sheets = check_sheets(path, release)
        done += [
            "the content is what the certificate signs",
            "the promised errors follow from the content",
            f"its {len(sheets):,} sheets are what the content gives",
        ]
        unchecked = check_readme(path, release)
        if "README.md" not in unchecked and (path / "README.md").exists():
            done.append("README.md says what the content gives")
    else:
        certificate = ReleaseCertificate.load(path)
    signed = f"the promise is signed by key {certificate.terms.public[:16]}…, and says what entry 0 says"
    done = [signed, *done]
    if ledger is not None:
        done += _against(certificate, ledger, head)
    if json:
        said = {name: value for name, value in certificate.said.items() if name != "domain"}
        emit({"ok": True, "release": str(path), "ledger": ledger, "checked": done, "unchecked": unchecked, **said})
        return
    _print(path, certificate, done, unchecked)


def _against(certificate: ReleaseCertificate, ledger: str, head: str | None) -> list[str]:
    with existing(ledger) as store:
        entries = store.read(certificate.first.holdout)
        if not entries:
            known = ", ".join(repr(first.body.get("name")) for first in store.holdouts().values()) or "none"
            raise Mismatch(
                f"this release is of {certificate.said['name']!r}, which the ledger {ledger} does not know.\n"
                f"  It has: {known[:200]}."
            )
        verify_chain(entries, public=certificate.terms.public, head=head)
        if entries[0].hash != certificate.first.hash:
            raise Tampered("the ledger's entry 0 is not the one that this release was made on")
    return [f"the ledger holds entry 0 of this release, whole and signed ({len(entries) - 1:,} entries after it)"]


def _sealed_for(terms: Terms) -> str:
    """What the signed terms say of other looks at the rows, and what they cannot."""
    if terms.uses is None:
        uses = "The ledger that sealed these rows seals them for this release alone"
    else:
        others = ", ".join(use for use, _ in terms.uses.shares if use != terms.uses.use) or "none"
        uses = f"The ledger that sealed these rows gives other rows to other uses ({others})"
    return f"{uses}; whether another ledger has them too, its signature cannot say."


def _print(path: Path, certificate: ReleaseCertificate, done: list[str], unchecked: list[str]) -> None:
    said: dict[str, Any] = certificate.said
    whole = path.is_dir()
    say("The release is valid." if whole else "The certificate is valid.")
    say()
    say(f"{said['name']} · {said['rows']:,} rows · {said['questions']:,} questions · {said['method']['method']}")
    say(
        f"  within ± {certificate.sample_error:.4g} of the rows and ± {certificate.population_error:.4g} of the",
        nl=False,
    )
    say(f" population, {percent(certificate.confidence)} for all together")
    say(f"  epsilon {certificate.epsilon:g}, delta {certificate.delta:g}, for {said['unit']}")
    say()
    say("Checked:")
    for line in done:
        say(f"  {line}")
    for what in ("sample", "population", "chosen later"):
        say_wrapped(f"Theorem ({what}): {said['theorems'][what]}")
    say("Assuming, for no release can show it:")
    for assumption in certificate.assumptions:
        say_wrapped(assumption, "  ")
    say_wrapped(_sealed_for(certificate.terms), "  ")
    say(f"Key: {certificate.terms.public}")
    if not whole:
        note("Checked alone. Give the whole folder to check that its content is what was signed.")
    for name in unchecked:
        note(f"{name} was not compared: {_UNCHECKED[name]}")
