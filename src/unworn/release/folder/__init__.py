"""A release as a folder that can be given away."""
