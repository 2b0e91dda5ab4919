"""Closing a board: final numbers, a page, all cards, and a summary that is signed."""
