"""Who asks: one way to be misled a file, each found by its name."""

from unworn.lab.analysts.alternating import Alternating
from unworn.lab.analysts.analyst import Analyst, Played
from unworn.lab.analysts.averaging import Averaging
from unworn.lab.analysts.boosting import Boosting
from unworn.lab.analysts.boundary_guesser import BoundaryGuesser
from unworn.lab.analysts.edge_guesser import EdgeGuesser
from unworn.lab.analysts.fingerprinting import Fingerprinting
from unworn.lab.analysts.interactive_fingerprinting import InteractiveFingerprinting
from unworn.lab.analysts.posterior_sign import PosteriorSign
from unworn.lab.analysts.probing.float_prober import FloatProber
from unworn.lab.analysts.probing.threshold_prober import ThresholdProber
from unworn.lab.analysts.quadratic import QuadraticAdaptive
from unworn.lab.analysts.reuse import Calibrating
from unworn.lab.analysts.roll_call import RollCall
from unworn.lab.analysts.select_then_vote import SelectThenVote
from unworn.lab.analysts.selecting.greedy_selection import GreedySelection
from unworn.lab.analysts.selecting.hill_climber import HillClimber
from unworn.lab.analysts.selecting.memoriser import Memoriser
from unworn.lab.analysts.sharpener import Sharpener
from unworn.lab.analysts.surprise_maximiser import SurpriseMaximiser

ANALYSTS: dict[str, type[Analyst]] = {
    kind.name: kind
    for kind in (
        Alternating,
        Averaging,
        Boosting,
        BoundaryGuesser,
        Calibrating,
        EdgeGuesser,
        Fingerprinting,
        FloatProber,
        GreedySelection,
        HillClimber,
        InteractiveFingerprinting,
        Memoriser,
        PosteriorSign,
        QuadraticAdaptive,
        RollCall,
        SelectThenVote,
        Sharpener,
        SurpriseMaximiser,
        ThresholdProber,
    )
}
"""Every analyst, by name: a new one is tried on every mechanism by being listed here."""

__all__ = ["ANALYSTS", "Analyst", "Played", *sorted(kind.__name__ for kind in ANALYSTS.values())]
