"""What goes on behind the API: the read models are kept, the bots play, the clocks are watched."""
