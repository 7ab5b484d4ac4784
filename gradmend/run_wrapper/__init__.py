"""`gradmend run`: a diagnosis of the user's own command, on the user's machine."""
