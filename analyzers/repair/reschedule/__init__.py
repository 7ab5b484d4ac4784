"""The operator *reschedule*: steps, clears and backward calls moved within their pass."""
