"""The lab's commands: claims that are run again, and the map of the lectures they come from."""
