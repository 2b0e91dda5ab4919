"""From the rows to a symbol, and from a symbol to an interval: what several mechanisms share."""
