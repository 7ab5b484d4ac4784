"""What was sent, read: boxes, tracebacks bound to files, everything of one request."""
