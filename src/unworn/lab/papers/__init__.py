"""Claims of papers, run again: one file a claim, each a command (``python -m unworn.lab.papers.freedman``)."""
