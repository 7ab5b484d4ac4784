"""The launcher: the one process that holds the power to run scripts, behind a UNIX socket."""
