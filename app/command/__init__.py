"""`gradmend diagnose`: what it reads from the disk, how it reports findings, what it changes."""
