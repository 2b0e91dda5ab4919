"""The lecture map: what each lecture says, section by section, and where it is here. One table per lecture."""
