"""Predictions that a ledger knows of: what was asked about, without what it was asked with."""

from __future__ import annotations

from typing import Any


class RecordedPredictions:
    """Predictions known only by what a ledger keeps of them: enough to compare questions, not to ask one."""

    runs_code = False

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = dict(data)
        self.runs_code = "method" in data

    @property
    def label(self) -> str:
        known_by = next((self.data[key] for key in ("digest", "model", "pickle") if key in self.data), "")
        return str(self.data.get("name") or f"predictions {known_by[:6]}")

    def to_json(self) -> dict[str, Any]:
        return self.data
