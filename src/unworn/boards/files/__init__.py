"""Files of a board: its settings, its sealed labels, and the submissions that are sent to it."""
