"""The price of an adaptive answer: the length of the code word that describes how the transcript got there.

**Theorem.** Fix the asker's coins. The questions then form a tree: what was released before an ask decides
it. Give every node v a weight omega(v) >= 0, before the rows are seen, so that all weights sum to at most 1.
If the interval at v misses its (now fixed) question with probability at most beta * omega(v), the chance that
any visited interval misses is at most beta, however the released symbols were made: a union bound over the
tree. Description length as protection is in Dwork et al. (2015), guess and check in Rogers et al. (2020).

The weights here are a prefix code: when (the position i), how many surprises before it (f), where they fell
(C(i-1, f) ways), and what each symbol said (``nats``). All are taken *before* the answer, i counts every
distinct ask, and no other length may stand in C(i-1, f): the sum would pass 1.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import LN2, check_nats, check_probability, check_whole, unchecked_log_choose

_UPWARD = 1.0 + 4e-15  # lengths are rounded up, so that weights summed in floats stay below 1


def position_nats(i: int, planned: int | None = None) -> float:
    """Nats to say that this is ask ``i`` (from 1): ln(1/w_i) with the w_i summing to 1.

    Without a plan w_i = 2^-l / ((l+1)(l+2)), l = floor(log2 i), for every i at once; with one, 1/planned.

    >>> round(position_nats(1), 4), round(position_nats(1000), 4), round(position_nats(1000, planned=1000), 4)
    (0.6931, 10.9388, 6.9078)
    """
    if planned is None:
        check_whole("the index i", i, 1)
        octave = int(i).bit_length() - 1
        return octave * LN2 + math.log((octave + 1) * (octave + 2))
    check_whole("planned", planned, 1)
    check_whole("the index i", i, 1, planned)
    return math.log(planned)


def offset_nats(offset: int) -> float:
    """Nats to say that the answer lies ``offset`` cells from the guess: ln(2|o|(|o|+1)), o not 0.

    >>> round(offset_nats(1), 2), round(offset_nats(-2), 2), round(offset_nats(3), 2)
    (1.39, 2.48, 3.18)
    """
    size = abs(offset)
    if offset == 0:
        raise ValueError("offset 0 is agreement and has no offset code; offsets are whole numbers other than 0")
    check_whole("the size of the offset", size, 1)
    return math.log(2 * size * (size + 1))


def code_length(i: int, surprises: int, nats: float, planned: int | None = None) -> float:
    """ln(1/omega) of ask ``i``, after ``surprises`` surprises among the asks before it.

    position + ln((f+1)(f+2)) + ln C(i-1, f) + nats.

    Parameters
    ----------
    i
        Its index, from 1, counting every distinct ask. Ask t of a batch has index t.
    surprises
        Surprises before it; for a batch, before the batch.
    nats
        Sum of the symbols' own code lengths, likewise.
    planned
        The number of asks fixed in advance, if one was.

    >>> round(code_length(1000, 0, 0.0), 4)
    11.632
    >>> round(code_length(1000, 3, 3 * offset_nats(2)), 4)
    40.3148
    """
    position = position_nats(i, planned)
    check_whole("surprises", surprises, 0, i - 1)
    check_nats("nats", nats)
    where = unchecked_log_choose(int(i) - 1, int(surprises)) if surprises else 0.0
    return (position + math.log((surprises + 1) * (surprises + 2)) + where + nats) * _UPWARD


def level(beta: float, i: int, surprises: int, nats: float, planned: int | None = None) -> float:
    """ln(beta omega): the ``log_level`` at which the interval of ask ``i`` is made.

    >>> round(level(0.05, 1000, 0, 0.0), 4)
    -14.6277
    """
    check_probability("beta", beta)
    return math.log(beta) - code_length(i, surprises, nats, planned)
