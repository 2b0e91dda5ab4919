"""Claims about reading few rows: answers from a sample of the sample."""
