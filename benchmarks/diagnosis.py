"""A whole verified diagnosis beside one cold `python train.py`: `python -m benchmarks.diagnosis`.

For each example of the form the two are timed in turn on the same machine, with the sandbox and
the reader warm, as in a running service. Compare the ratios; milliseconds depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from app.diagnose import diagnose
from app.reader import Reader
from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import Unheard
from sandbox.client import EmbeddedSandbox

EXAMPLES = Path(__file__).parent.parent / "app" / "examples"


def cold(script: Path, home: str) -> float:
    """Seconds that one plain run of the script takes, to its exception."""
    began = time.perf_counter()
    subprocess.run([sys.executable, str(script)], capture_output=True, cwd=home, check=False)
    return time.perf_counter() - began


async def measured(rounds: int, texts: dict[Path, str], sandbox: EmbeddedSandbox) -> None:
    """Time every script and print a row for each."""
    reader = Reader()
    ratios: list[float] = []
    print(f"{'example':<22}{'cold ms':>9}{'read ms':>9}{'whole ms':>10}{'ratio':>8}  first patch")
    try:
        await _warm(reader, sandbox)
        for script, text in texts.items():
            ratios.append(await _row(script, text, rounds, reader, sandbox))
    finally:
        await reader.close()
        await sandbox.close()
    print(f"median ratio of a whole diagnosis to one cold run: {statistics.median(ratios):.2f}")


async def _warm(reader: Reader, sandbox: EmbeddedSandbox) -> None:
    request = DiagnosisRequest(script="import torch\n")
    await diagnose(request, sandbox=sandbox, reader=reader, progress=Unheard())


async def _row(
    script: Path, text: str, rounds: int, reader: Reader, sandbox: EmbeddedSandbox
) -> float:
    request = DiagnosisRequest(script=text, filename=script.name)
    colds: list[float] = []
    wholes: list[float] = []
    found = Findings()
    with tempfile.TemporaryDirectory() as home:
        for _ in range(rounds):
            colds.append(1000 * await asyncio.to_thread(cold, script, home))
            began = time.perf_counter()
            found = await diagnose(request, sandbox=sandbox, reader=reader, progress=Unheard())
            wholes.append(1000 * (time.perf_counter() - began))
    first = found.patches[0].verification.status if found.patches else "none"
    a, b = statistics.median(colds), statistics.median(wholes)
    print(
        f"{script.stem:<22}{a:>9.0f}{found.timings_ms.read:>9.0f}{b:>10.0f}{b / a:>8.2f}  {first}"
    )
    return b / a


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--image", help="in containers of this image, instead of the jail")
    chosen = parser.parse_args()
    texts = {script: script.read_text() for script in sorted(EXAMPLES.glob("*.py"))}
    in_containers = ("container", ["--image", chosen.image])
    sandbox = EmbeddedSandbox(*in_containers) if chosen.image else EmbeddedSandbox()
    asyncio.run(measured(chosen.rounds, texts, sandbox))


if __name__ == "__main__":
    main()
