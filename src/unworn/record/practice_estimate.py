"""What practice rows say: an exact value on them, free, and with no promise."""

from __future__ import annotations

from dataclasses import dataclass

from unworn.basics.display import show_html, show_line


@dataclass(frozen=True)
class PracticeEstimate:
    """The exact value of a question on the practice rows.

    It costs nothing and enters nothing in the ledger. Like any test set that is looked at, practice rows wear out:
    choose by them as often as you like, and believe what the sealed rows say. ``error`` is the standard error of the
    value for a question that was not chosen by it; ``rows`` counts the practice rows, or whatever ``unit`` says.

    >>> estimate = PracticeEstimate(0.8125, 0.0078, 2_500, "accuracy of Forest")
    >>> print(estimate)
    accuracy of Forest: 0.8125 ± 0.0078 on 2 500 practice rows (free, may wear out: no promise)
    >>> float(estimate)
    0.8125
    """

    value: float
    error: float
    rows: int
    label: str
    unit: str = "rows"

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{show_line(self.label)}: {self.short} on {self._rows} (free, may wear out: no promise)"

    @property
    def short(self) -> str:
        """The value and its standard error."""
        return f"{self.value:.4g} ± {self.error:.2g}"

    @property
    def _rows(self) -> str:
        return f"{self.rows:,} practice {self.unit}".replace(",", " ")

    def _repr_html_(self) -> str:
        return (
            f"<div><b>{self.value:.4g}</b> ± {self.error:.2g} · {show_html(self.label)}<br>"
            f"<small>exact on {self._rows} · free, may wear out: no promise</small></div>"
        )
