"""Answers of few words, priced by how surprising the conversation is."""
