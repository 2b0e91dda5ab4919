"""The server: boards and holdouts behind HTTP, rows and key on one side, verbs on the other."""
