"""The operator *combine*: merge several backward calls into one."""
