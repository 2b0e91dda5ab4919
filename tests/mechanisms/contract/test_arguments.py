from __future__ import annotations

import math
from typing import Any

import pytest

from unworn import mechanisms
from unworn.mechanisms import GuessAndCheck, Rounding


@pytest.mark.parametrize("mechanism", [GuessAndCheck, Rounding])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("width", wrong) for wrong in (0.0, -0.1, -1, math.inf, math.nan, True, "0.1")),
        *(("confidence", wrong) for wrong in (0.0, 1.0, 1.5, -0.1, math.nan, True, "0.95", None)),
        *((name, wrong) for name in ("rows", "asks") for wrong in (0, -1, 1.5, 10**19, True, None)),
    ],
)
def test_a_goal_that_no_mechanism_could_have_is_refused(
    mechanism: type[mechanisms.Mechanism], name: str, wrong: Any
) -> None:
    goal: dict[str, Any] = {"rows": 1_000, "asks": 10, "width": 0.1, "confidence": 0.95}
    assert isinstance(mechanism.for_(**goal), mechanism)
    with pytest.raises(ValueError, match=rf"^{name} is a "):
        mechanism.for_(**{**goal, name: wrong})
