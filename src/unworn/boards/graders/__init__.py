"""Graders of text: texts brought into one form, and the organiser's own code in a process of its own."""
