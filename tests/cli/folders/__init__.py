"""Tests of the same folder."""
