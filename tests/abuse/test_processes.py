"""Too many processes, processes that will not die, and killing those that are not one's own."""

from __future__ import annotations

import os

import pytest

from sandbox.walls.limits import Limits
from tests.abuse.attacking import CALL_ME, Target, all_ended, processes_named, unique_name

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_fork_bomb(target: Target) -> None:
    name = unique_name()
    result = await target.attack(
        CALL_ME.format(name=name)
        + """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
        time_limit_s=60,
    )
    assert (result.status, result.limit) == ("limit_hit", "processes")
    await all_ended(name)


async def test_thread_bomb(target: Target) -> None:
    result = await target.attack("""
        import select, threading
        while True:
            try:
                threading.Thread(target=threading.Event().wait, daemon=True).start()
            except RuntimeError:
                select.select([], [], [], 0.01)
    """)
    assert (result.status, result.limit) == ("limit_hit", "processes")


async def test_daemon_in_a_session_of_its_own_ends_with_the_run(target: Target) -> None:
    name = unique_name()
    result = await target.attack(
        CALL_ME.format(name=name)
        + """
import os, signal, select
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        select.select([], [], [], 600)
print("left a daemon behind")
"""
    )
    assert result.status == "finished"
    assert not processes_named(name)


async def test_a_script_that_ignores_every_signal_still_ends(target: Target) -> None:
    name = unique_name()
    result = await target.attack(
        CALL_ME.format(name=name)
        + """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
""",
        time_limit_s=1,
    )
    assert result.status == "timed_out"
    await all_ended(name)


async def test_only_ones_own_processes_can_be_seen(target: Target) -> None:
    result = await target.attack("""
        import os
        seen = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        print(seen <= {1, os.getppid(), os.getpid()})
    """)
    assert result.stdout_tail == "True\n"


async def test_killing_everything_kills_only_oneself(target: Target) -> None:
    before = target.box.launcher_pid
    await target.attack("""
        import os, signal
        for pid in (os.getppid(), 1, -1):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
    """)
    assert target.box.launcher_pid == before


async def test_killing_the_hosts_processes_by_number(target: Target) -> None:
    await target.attack(f"""
        import os
        for pid in {[os.getpid(), os.getppid(), target.box.launcher_pid]}:
            try:
                os.kill(pid, 9)
            except OSError:
                pass
    """)
    assert target.box.launcher_pid is not None


async def test_burning_every_core_ends_at_the_time_limit(target: Target) -> None:
    result = await target.attack(
        """
        import os
        for _ in range(8):
            if os.fork() == 0:
                while True:
                    pass
        while True:
            pass
        """,
        time_limit_s=1,
    )
    assert result.status == "timed_out"


async def test_what_a_script_waited_for_a_processor_is_reported(target: Target) -> None:
    result = await target.attack("""
        import os, time
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        for _ in range(4):
            if os.fork() == 0:
                while True:
                    pass
        while time.process_time() < 0.2:
            pass
    """)
    assert result.status == "finished"
    assert 0 < result.waited_s < result.duration_s


async def test_waiting_adds_no_more_than_the_time_limit(target: Target) -> None:
    result = await target.attack(
        """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        for _ in range(40):
            if os.fork() == 0:
                while True:
                    pass
        while True:
            pass
        """,
        time_limit_s=1,
    )
    assert (result.status, result.waited_s) == ("timed_out", 1)


async def test_a_fork_bomb_that_gives_up_has_met_its_limit_all_the_same(target: Target) -> None:
    result = await target.attack("import os\nwhile True: os.fork()", time_limit_s=60)
    assert (result.status, result.limit) == ("limit_hit", "processes")


async def test_the_kernel_holds_the_limits_too(target: Target) -> None:
    """Whatever is not seen in time still ends at these."""
    result = await target.run("""
        import resource
        for name in ("NPROC", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO"):
            print(name, *resource.getrlimit(getattr(resource, f"RLIMIT_{name}")))
    """)
    limits = Limits()
    most = {"NPROC": limits.tasks + 64, "NOFILE": limits.open_files}
    lines = [line.split() for line in result.stdout_tail.splitlines()]
    assert len(lines) == 6, result
    for name, soft, hard in lines:
        if name == "NPROC" and target.backend == "container":
            continue  # Docker counts the tasks of a container: no user is a run's own there
        assert 0 <= int(soft) <= int(hard) <= most.get(name, 0), name
