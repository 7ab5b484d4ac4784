"""The `jail` backend: fresh namespaces for each run, forked from a warm parent.

    launcher ─ keeper ─ zygote (pid 1 of a pid namespace, in a root of its own, torch imported)
                          ├─ watcher of a run ─ init (pid 1 of the run) ─ script
                          └─ …

The zygote itself already lives behind mounts that hold nothing but the interpreter, and without
a network. When any of launcher, keeper and zygote dies, the kernel ends all below it, and the
mounts vanish with their namespaces.
"""
