"""Commands about boards and holdouts that lie in folders, and about files without any of it."""
