"""Claims about being misled: what choosing by answers does to a plain holdout, and not to a protected one."""
