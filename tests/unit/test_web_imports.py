"""What the web process does without is not loaded into it."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json, sys
from app.main import create_app
from app.settings import Settings
create_app(Settings(sandbox="none", var_dir=sys.argv[1]))
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
LARGE = {"torch", "numpy", "mcp", "alembic", "psycopg", "procrastinate", "jsonschema", "PIL"}


def test_large_packages_wait_until_they_are_needed(tmp_path: object) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    loaded = set(json.loads(reported))
    assert "fastapi" in loaded
    assert not LARGE & loaded
