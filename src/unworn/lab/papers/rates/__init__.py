"""Claims about rates: how the error grows with the number of questions, and falls with the number of rows."""
