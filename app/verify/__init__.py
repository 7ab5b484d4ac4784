"""Does a change keep the training the same? Both versions run, and are compared step by step."""

from app.verdict import ComparisonCheck, Verdict, Witness
from app.verify.verification import verify
from app.verify.version import Progress, Version

__all__ = ["ComparisonCheck", "Progress", "Verdict", "Version", "Witness", "verify"]
