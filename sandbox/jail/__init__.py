"""The `jail` backend: fresh namespaces for each run, forked from a warm parent.

    launcher ─ keeper ─ zygote (pid 1 of a pid namespace, in a root of its own, torch imported)
                          ├─ watcher of a run ─ init (pid 1 of the run) ─ script
                          └─ …

The zygote itself runs without a network and sees only mounts of the interpreter's files. When any
of launcher, keeper and zygote dies, the kernel ends all processes below it, and the mounts
disappear with their namespaces.
"""
