"""One server, as requests and replies: addresses, tokens, keys seen before, files that are sent, and retries."""
