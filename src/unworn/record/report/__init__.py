"""A report on a holdout, from its ledger alone: HTML or Markdown."""
