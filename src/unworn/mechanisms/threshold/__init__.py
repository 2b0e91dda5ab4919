"""The sparse vector technique and its kin: only the side of a secret threshold is told."""
