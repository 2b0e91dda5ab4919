"""Bounds that nothing in the product uses: for comparison, and for readers of the papers."""
