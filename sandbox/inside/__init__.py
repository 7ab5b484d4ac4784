"""What runs within the walls, in the user's process: standard library and torch only."""
