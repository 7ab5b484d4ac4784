"""`gradmend run`: a diagnosis beside the user's own command, on his machine."""
