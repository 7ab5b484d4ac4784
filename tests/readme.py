"""The README's example, and what the command prints for it now.

`make docs` writes the second into the README, where the first names it.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from tests.processes import COMMAND

README = Path(__file__).parent.parent / "README.md"
_WIDTH = 100
_EXAMPLE = re.compile(
    r"(?s)```python\n(?P<script>.*?)```\n\n`gradmend train\.py -v` answers:\n\n"
    r"```\n(?P<answer>.*?)```\n"
)


def example(text: str) -> re.Match[str]:
    """The README's example: its groups are `script` and `answer`."""
    found = _EXAMPLE.search(text)
    assert found is not None, "the README shows no example"
    return found


def answer(script: str) -> str:
    """What `gradmend train.py -v` prints, without blanks at the ends of lines."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "train.py").write_text(script)
        done = subprocess.run(
            [COMMAND, "train.py", "-v"],
            cwd=directory,
            env={**os.environ, "COLUMNS": str(_WIDTH), "GRADMEND_VAR_DIR": directory},
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert done.returncode == 1, done.stderr
    return re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)


def main() -> None:
    """Write the answer as it is now into the README."""
    text = README.read_text()
    found = example(text)
    start, end = found.span("answer")
    README.write_text(text[:start] + answer(found["script"]) + text[end:])


if __name__ == "__main__":
    main()
