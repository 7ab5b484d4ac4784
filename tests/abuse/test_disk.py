"""Filling what can be written, and writing what cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abuse.attacking import Target

pytestmark = pytest.mark.asyncio(loop_scope="session")

BOMBS = {
    "blocks": """
        number = 0
        while True:
            with open(f"/tmp/{number}", "wb") as file:
                file.write(b"x" * (1 << 20))
            number += 1
    """,
    "inodes": """
        number = 0
        while True:
            open(f"/tmp/{number}", "wb").close()
            number += 1
    """,
    "shared inodes": """
        number = 0
        while True:
            open(f"/dev/shm/{number}", "wb").close()
            number += 1
    """,
    "directories": """
        import os
        while True:
            os.mkdir("deeper")
            os.chdir("deeper")
    """,
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_disk_bombs_end(target: Target, bomb: str) -> None:
    result = await target.attack(BOMBS[bomb])
    assert result.status in ("raised", "limit_hit", "timed_out")
    assert result.limit in ("disk", None)


async def test_sparse_files_cannot_grow_large(target: Target) -> None:
    result = await target.attack("""
        with open("/tmp/sparse", "wb") as file:
            file.truncate(1 << 40)
    """)
    assert result.status == "raised"


async def test_nothing_outside_can_be_written(target: Target, open_directory: Path) -> None:
    canary = open_directory / "canary"
    canary.write_text("untouched")
    canary.chmod(0o666)
    protected = ["/proc/sys/kernel/core_pattern"]
    places = [canary, open_directory / "new", "/root-file", "/etc/passwd", "/usr/lib/x", "/dev/x"]
    result = await target.attack(f"""
        import torch
        for path in {[str(place) for place in places]} + {protected} + [torch.__file__]:
            try:
                with open(path, "a") as file:
                    file.write("changed")
                print("wrote", path)
            except OSError:
                pass
    """)
    assert result.stdout_tail == ""
    assert canary.read_text() == "untouched"
    assert not (open_directory / "new").exists()


async def test_scratch_of_one_run_is_gone_in_the_next(target: Target) -> None:
    write = "open('/tmp/note', 'w').write('x'); open('/dev/shm/note', 'w').write('x')"
    assert (await target.attack(write)).status == "finished"
    result = await target.attack("""
        import os
        print([path for path in ("/tmp/note", "/dev/shm/note") if os.path.exists(path)])
    """)
    assert result.stdout_tail == "[]\n"
