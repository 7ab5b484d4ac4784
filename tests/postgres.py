"""A real PostgreSQL cluster of the tests' own: a temporary directory, a UNIX socket, no network."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

OWNER = "gradmend"
UNPRIVILEGED = "nobody"
_START_S = 120


def find_program(name: str) -> str | None:
    """A PostgreSQL program, on the path or where Debian keeps the newest version."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or next((str(path) for path in versions), None)


class Cluster:
    """A running server. PostgreSQL refuses to run as root: it then runs as `nobody`."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="gradmend-pg-"))
        self._user = UNPRIVILEGED if os.getuid() == 0 else None
        self._databases = 0
        if self._user:
            account = pwd.getpwnam(self._user)
            os.chown(self.directory, account.pw_uid, account.pw_gid)
        data = str(self.directory / "data")
        self._run("initdb", "-D", data, "-U", OWNER, "-E", "UTF8", "--auth=trust", "--no-sync")
        self._server: subprocess.Popen[bytes] | None = None
        self.start()

    def _command(self, program: str, *arguments: str) -> list[str]:
        path = find_program(program)
        assert path is not None, f"{program} is not installed"
        return [path, *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            self._command(program, *arguments),
            user=self._user,
            cwd=self.directory,
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.directory),
            "fsync": "off",
            "max_connections": "200",
        }
        switches = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self._server = subprocess.Popen(
                self._command("postgres", "-D", str(self.directory / "data"), *switches),
                user=self._user,
                cwd=self.directory,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self._server.poll() is None:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise RuntimeError((self.directory / "log").read_text()[-2000:])

    def stop(self) -> None:
        """Stop the server; connections are cut."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            self._server.wait(_START_S)
            self._server = None

    def remove(self) -> None:
        """Stop, and leave nothing."""
        self.stop()
        shutil.rmtree(self.directory)

    def url(self, database: str) -> str:
        """The address of a database, for libpq and for the service's settings."""
        return f"postgresql://{OWNER}@/{database}?host={self.directory}"

    def new_database(self) -> str:
        """The address of a fresh, empty database."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    @contextmanager
    def database_on(self, directory: Path) -> Iterator[str]:
        """The address of a database whose files lie in this directory; dropped in the end."""
        self._databases += 1
        name = f"test_{self._databases}"
        place = directory / name
        place.mkdir()
        if self._user:
            account = pwd.getpwnam(self._user)
            os.chown(place, account.pw_uid, account.pw_gid)
        self.execute(f"CREATE TABLESPACE {name} LOCATION '{place}'")
        self.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")
        self.execute(f"DROP TABLESPACE {name}")

    def cut_connections(self) -> None:
        """End every client's connection, as a failing network would."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )

    def execute(self, sql: str) -> None:
        """Run a statement on the maintenance database."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())
