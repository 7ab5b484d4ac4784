"""The corpus in `tests/cases`: that its cases are what they claim, and what the product makes of
them. Everything is discovered: a new folder of cases is run without being listed anywhere."""
