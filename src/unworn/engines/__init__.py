"""Where rows live when they outgrow memory."""
