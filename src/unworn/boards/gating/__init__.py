"""What the gate is made of: how luck is told from gains, who is asked, how a lane climbs, and where it is written."""
