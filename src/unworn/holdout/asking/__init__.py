"""Before an ask reaches the desk: its arguments checked, its guess found, its code tried."""
