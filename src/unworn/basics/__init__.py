"""What everything else stands on: text that may be shown, JSON that somebody else wrote, typed fields."""
