"""The sparse vector technique: what its noise hides, and how far it can be on the wrong side."""
