"""The operator *reschedule*: move steps, clears and backward calls within their iteration."""
