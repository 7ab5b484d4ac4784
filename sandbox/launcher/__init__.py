"""The launcher: the only process that is allowed to start runs, at a UNIX socket."""
