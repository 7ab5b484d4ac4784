"""Fix the operations and the backward of a hand-written engine."""
