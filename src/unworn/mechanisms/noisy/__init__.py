"""Answers that are a count or a mean plus noise."""
