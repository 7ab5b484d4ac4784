"""The `container` backend: containers of the torch image, started ahead, one for each request.

    launcher ─ Docker Engine ─ guest (pid 1: imports torch, then watches) ─ reaper ─ script

A container runs the jobs of one session, one after the other, each in a fork of the guest, and is
then removed; earlier if anything of a run might be left. Its standard input belongs to the
launcher: when the launcher goes, the guest ends, and the engine removes the container.
"""
