"""The operator *combine*: several backward calls into one."""
