"""All that follows from a ledger alone: its terms, its transcript, its answers, and how to check them."""
