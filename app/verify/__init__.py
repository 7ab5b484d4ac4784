"""Does a change keep the training the same? Both versions run, and are compared step by step."""

from app.verdict import ComparisonCheck, Verdict, Witness
from app.verify.compared_version import Progress, Version
from app.verify.verification import verify

__all__ = ["ComparisonCheck", "Progress", "Verdict", "Version", "Witness", "verify"]
