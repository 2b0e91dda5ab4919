"""Analysts who select: by answers they keep what looks good, as people and agents do."""
