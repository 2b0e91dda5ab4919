"""Sweeps: worlds × analysts × mechanisms × sizes × repetitions as one table, in parallel, resumed where it stopped."""

from unworn.lab.sweeps.sweep import Sweep
from unworn.lab.sweeps.sweep_run import run_sweep, sweep_frame

__all__ = ["Sweep", "run_sweep", "sweep_frame"]
