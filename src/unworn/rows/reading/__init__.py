"""Columns out of frames, files and batches."""
