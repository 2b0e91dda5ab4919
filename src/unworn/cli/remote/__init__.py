"""Commands that talk to a server: sign in, submit, ask, and tools for agents."""
