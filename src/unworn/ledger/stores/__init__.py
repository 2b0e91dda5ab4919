"""Where entries are kept: in memory, or in one SQLite file."""
