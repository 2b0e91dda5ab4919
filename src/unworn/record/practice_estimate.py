"""What practice rows say: an exact value on them, free, and with no promise."""

from __future__ import annotations

from dataclasses import dataclass

from unworn.basics.display import show_fields, show_html, show_line, show_number


@dataclass(frozen=True, repr=False)
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
    >>> f"{estimate:.2f}"
    '0.81'
    """

    value: float
    error: float
    rows: int
    label: str
    unit: str = "rows"

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    __repr__ = show_fields

    def __str__(self) -> str:
        return f"{show_line(self.label)}: {self.short} on {self._rows} (free, may wear out: no promise)"

    @property
    def short(self) -> str:
        """The value and its standard error."""
        return f"{show_number(self.value)} ± {show_number(self.error, 2)}"

    @property
    def _rows(self) -> str:
        return f"{self.rows:,} practice {self.unit}".replace(",", " ")

    def _repr_html_(self) -> str:
        return (
            f"<div><b>{show_number(self.value)}</b> ± {show_number(self.error, 2)} · {show_html(self.label)}<br>"
            f"<small>exact on {self._rows} · free, may wear out: no promise</small></div>"
        )
