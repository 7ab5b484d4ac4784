"""The `container` backend: single-use containers of the torch image, started ahead.

    launcher ─ Docker Engine ─ guest (pid 1: imports torch, then watches) ─ reaper ─ script

A container runs one job and is removed. Its standard input belongs to the launcher: when that
goes away, the guest ends, and the engine removes the container.
"""
