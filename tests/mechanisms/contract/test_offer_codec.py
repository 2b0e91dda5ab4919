from __future__ import annotations

import math
from typing import Any

import pytest

from unworn.mechanisms.contract.offer import Offer
from unworn.mechanisms.contract.offer_codec import PLACE_OF, offer_list, read_offer
from unworn.mechanisms.symbols.final_values import FinalPayload

OFFER = Offer(3, 2_000, "unit", -1.0, 1.0, False, False, math.log(0.01), FinalPayload((0, 1, True), gauge=0.1))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("kind", "units"), ("rows", 0), ("rows", -3), ("rows", 10**15 + 1), ("low", 1.0), ("low", 2.0), ("high", -1.0)],
)
def test_a_header_that_no_rows_could_have_been_offered_is_refused(name: str, wrong: Any) -> None:
    told = offer_list(OFFER)
    assert read_offer(told) == OFFER
    told[PLACE_OF[name]] = wrong
    with pytest.raises(ValueError, match="no rows could have been offered this"):
        read_offer(told)
