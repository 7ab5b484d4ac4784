"""What was sent, checked and read."""
