"""`gradmend diagnose`: what it reads from the disk, how it tells findings, what it changes."""
