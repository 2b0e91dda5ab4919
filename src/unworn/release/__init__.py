"""Many queries at once: private tables, distributions and synthetic rows from one look at the rows."""
