"""The questions that learning asks: gradients of losses, and moments of mixtures."""
