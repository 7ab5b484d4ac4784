"""The first run of a session tries to spoil the next one, which must find everything as new."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.abuse.attacking import HONEST, HONEST_OUTPUT, Target, all_ended, unique_name

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rotating]

CENSUS = """
import os, resource, socket
for place in (".", "/tmp", "/dev/shm"):
    state = os.statvfs(place)
    print(sorted(os.listdir(place)), state.f_bfree, state.f_ffree, os.stat(place).st_mode)
print(open("train.py").read() == open(__file__).read())
alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}
print(alive - {1, os.getppid(), os.getpid()})
kinds = {getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
print([resource.getrlimit(kind) for kind in sorted(kinds - {resource.RLIMIT_DATA})])
print(os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))
for port in (29500, 29501):
    socket.socket().bind(("127.0.0.1", port))
print(sorted(line.split()[-1] for line in open("/proc/net/unix") if "/" in line or "@" in line))
"""

SPOILING = {
    "other files": """
        import os, sys
        for place in ("/job", "/tmp", "/dev/shm"):
            for name in ("train.py", "torch.py", "sitecustomize.py", "random.py", "x.pth"):
                open(f"{place}/{name}", "w").write("print('spoilt')")
            os.makedirs(f"{place}/closed/within/deeper", exist_ok=True)
            open(f"{place}/closed/within/file", "w").close()
            os.symlink("/", f"{place}/closed/root")
            os.symlink("..", f"{place}/closed/above")
            os.mkfifo(f"{place}/closed/fifo")
            os.chmod(f"{place}/closed/within", 0)
            os.chmod(f"{place}/closed", 0)
            os.mkdir(os.fsencode(place) + b"/\\xff\\n")
    """,
    "full directories": """
        import os
        for place in ("/tmp", "/dev/shm"):
            state = os.statvfs(place)
            with open(f"{place}/filler", "wb") as file:
                file.write(b"x" * (state.f_bfree - 8) * state.f_frsize)
        for number in range(8000):
            open(f"/job/{number}", "w").close()
    """,
    "a deep tree": """
        import os
        for number in range(2000):
            os.mkdir("deeper")
            os.chdir("deeper")
    """,
    "signals to all": """
        import os, signal
        pids = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}
        for number in range(1, 65):
            for pid in (1, os.getppid(), *pids):
                try:
                    os.kill(pid, number)
                    signal.pidfd_send_signal(os.pidfd_open(pid), number)
                except OSError:
                    pass
    """,
    "memory of others": """
        import ctypes, os
        libc = ctypes.CDLL(None)
        for pid in {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}:
            for name in ("mem", "fd/0", "fd/1", "fd/3", "environ", "maps", "cwd", "root"):
                try:
                    os.write(os.open(f"/proc/{pid}/{name}", os.O_RDWR), b"x")
                    print("wrote to", name)
                except OSError:
                    pass
            print(libc.ptrace(16, pid, 0, 0), libc.process_vm_writev(pid, None, 0, None, 0, 0))
    """,
    "treatment of others": """
        import os, resource
        for pid in {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}:
            changes = [
                lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, 8)),
                lambda: resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, 1 << 20)),
                lambda: resource.prlimit(pid, resource.RLIMIT_STACK, (65536, 65536)),
                lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}),
                lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
                lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
            ]
            for change in changes:
                try:
                    change()
                except OSError:
                    pass
    """,
    "ports that stay taken": """
        import socket
        listener = socket.create_server(("127.0.0.1", 29500))
        client = socket.create_connection(("127.0.0.1", 29500))
        listener.accept()[0].close()
        client.close()
    """,
    "descriptors in flight": """
        import os, socket
        hidden = os.open("/tmp/hidden", os.O_CREAT | os.O_RDWR)
        os.write(hidden, b"x" * (8 << 20))
        os.unlink("/tmp/hidden")
        a, b = socket.socketpair()
        socket.send_fds(a, [b"x"], [a.fileno(), b.fileno(), hidden])
        socket.send_fds(b, [b"x"], [a.fileno(), b.fileno(), hidden])
    """,
}

DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        import ctypes
        ctypes.CDLL(None).prctl(15, {name!r}.encode(), 0, 0, 0)
        while True:
            for place in ("/job", "/tmp"):
                try:
                    open(place + "/train.py", "w").write("print('spoilt')")
                    os.write(3, b'{{"t": "end", "reason": "finished"}}\\n')
                except OSError:
                    pass
    os._exit(0)
os.wait()
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def census(target: Target) -> str:
    """What a script finds where nothing has run before."""
    fresh = await target.run(CENSUS)
    assert fresh.status == "finished", fresh.stderr_tail
    return fresh.stdout_tail


@pytest.mark.parametrize("way", SPOILING)
async def test_the_next_run_finds_everything_as_new(target: Target, census: str, way: str) -> None:
    async with target.session() as session:
        spoiling = await session.run(SPOILING[way])
        assert spoiling.status == "finished", spoiling
        assert "wrote" not in spoiling.stdout_tail
        for _ in range(2):
            seen = await session.run(CENSUS)
            assert (seen.status, seen.stdout_tail) == ("finished", census), seen


async def test_a_daemon_does_not_meet_the_next_run(target: Target, census: str) -> None:
    name = unique_name()
    async with target.session() as session:
        assert (await session.run(DAEMON.format(name=name))).status == "finished"
        seen = await session.run(CENSUS, mode="trace")
        assert (seen.status, seen.stdout_tail) == ("finished", census), seen
        assert not seen.tampered
    await all_ended(name)


@pytest.mark.parametrize(
    ("source", "status"),
    [("while True: pass", "timed_out"), ("import os; os.abort()", "raised"), ("1/0", "raised")],
    ids=["endless", "crash", "error"],
)
async def test_an_unhappy_run_is_followed_by_an_honest_one(
    target: Target, source: str, status: str
) -> None:
    async with target.session() as session:
        assert (await session.run(source, time_limit_s=2)).status == status
        honest = await session.run(HONEST)
        assert (honest.status, honest.stdout_tail) == ("finished", HONEST_OUTPUT), honest
