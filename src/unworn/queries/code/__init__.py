"""Questions that run the asker's own code: what it is known by, and what it may not say."""
