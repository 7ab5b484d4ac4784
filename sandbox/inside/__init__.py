"""What runs within the walls, beside the user's script: standard library and torch only."""
