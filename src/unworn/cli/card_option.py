"""``--card``: where an answer's certificate is saved; looked at before the answer is paid for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from unworn.cli.ledger_lookup import ledger_path
from unworn.cli.output import BadInput
from unworn.errors import LedgerError
from unworn.record.certificate import check_card_path


def check_card(card: Path | None, ledger: str) -> None:
    """Before anything is charged: an answer whose card cannot be written is an answer paid for."""
    if card is None:
        return
    try:
        check_card_path(card)
    except LedgerError as error:
        raise BadInput(f"{error.message}.\n  Name a file in a folder that exists and can be written.") from None
    path = ledger_path(ledger)
    if path is not None and os.path.realpath(path) == os.path.realpath(card):
        raise BadInput(f"{card} is the name of the ledger.\n  Name another file for the card.")


def save_card(answer: Any, card: Path | None) -> LedgerError | None:
    """Save it; what kept it from being saved, if something did, for when the answer has been told."""
    try:
        if card is not None:
            answer.certificate.save(card)
    except LedgerError as error:
        return error
    return None
