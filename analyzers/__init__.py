"""Pure analysis: no I/O, no clock, no torch, and no user code is ever executed."""
