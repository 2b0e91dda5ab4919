"""What a mechanism is: its methods, its parameters, and what is recorded of an answer."""
