"""What happens to every request: its body, its key, its log, its reply."""
