"""The walls around one run, one module each, shared by every backend.

Each function acts on the calling process, cannot be undone, and raises `WallError` if the wall
cannot be raised. No run starts with fewer walls than were requested.
"""
