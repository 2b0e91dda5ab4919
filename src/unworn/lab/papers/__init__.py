"""Claims of papers and lectures, run again: one file per claim, found by its name (see ``claim_contract``)."""
