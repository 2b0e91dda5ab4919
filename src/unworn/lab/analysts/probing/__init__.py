"""Analysts who probe how an answer is made: its last digits, its threshold."""
