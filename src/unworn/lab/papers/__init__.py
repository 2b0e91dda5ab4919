"""Claims of papers, run again: one file per claim, each a command (``python -m unworn.lab.papers.freedman``)."""
