"""Settings, read from the environment (`GRADMEND_…`) when a process starts.

The table in docs/settings.md is generated from this class: `python -m app.settings`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything an operator can turn. Durations are seconds, sizes are bytes."""

    model_config = SettingsConfigDict(env_prefix="GRADMEND_", extra="ignore", frozen=True)

    var_dir: Path = Field(Path("var"), description="the folder of the default SQLite database")
    database_url: str = Field(
        "", description="`postgresql://…`; empty: SQLite in `GRADMEND_VAR_DIR`"
    )
    jobs: Literal["embedded", "queue"] = Field(
        "embedded",
        description="`embedded`: the serving process works on diagnoses; `queue`: "
        "`gradmend worker` processes do (needs PostgreSQL)",
    )
    concurrency: int = Field(
        0, ge=0, description="diagnoses at once in each process; 0: one per core"
    )
    queue_limit: int = Field(64, ge=1, description="diagnoses that may wait; others get 503")
    max_attempts: int = Field(3, ge=1, description="attempts at a diagnosis, at most")
    lease_s: float = Field(
        15, gt=0.5, description="seconds without a heartbeat after which a diagnosis is taken over"
    )
    sweep_s: float = Field(
        5, gt=0, description="seconds between searches for abandoned and expired work"
    )
    retention_days: float = Field(7, gt=0, description="days that a diagnosis is kept")
    keep_on_request: bool = Field(
        True, description="let a sender keep a result until they delete it"
    )
    reuse_results: bool = Field(
        True, description="answer a repeated request with the findings of the first"
    )
    prepare_examples: bool = Field(
        False, description="at start, diagnose the form's examples ahead of requests"
    )
    shutdown_grace_s: float = Field(
        10,
        ge=0,
        description="seconds that running diagnoses get to end before they are handed back",
    )

    sandbox: Literal["jail", "container", "none"] = Field(
        "jail", description="backend of the embedded sandbox; `none`: scripts are only read"
    )
    sandbox_socket: str = Field(
        "",
        description="socket of a `gradmend sandbox` launcher to use instead of the embedded one",
    )

    sandbox_python: Path | None = Field(
        None,
        description="the interpreter that the embedded sandbox runs scripts with; it needs torch, "
        "NumPy and pydantic. Empty: the service's own",
    )
    torch_sandboxes: str = Field(
        "",
        description="further versions of torch that a request may choose, comma-separated: "
        "`2.4=/opt/torch-2.4/bin/python` (an interpreter with torch, NumPy and pydantic), or "
        "`2.4=/run/gradmend/torch-2.4.sock` (the socket of a `gradmend sandbox` launcher)",
    )
    sandbox_allow_missing: str = Field(
        "", description="walls that may be missing (`landlock`); `/readyz` lists them"
    )

    assistant_url: str = Field(
        "",
        description="a server of the chat-completions protocol, such as "
        "`http://localhost:11434/v1` (Ollama, vLLM, llama.cpp, or a hosted one). If no fix of "
        "Gradmend's is safe, this server gets the script and the evidence; empty: no server",
    )
    assistant_model: str = Field("", description="the name of the model")
    assistant_key: str = Field("", description="the key for the server, if it requires one")
    assistant_timeout_s: float = Field(
        60, gt=0, description="seconds that one answer may take; Gradmend asks for at most three"
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on")
    public_url: str = Field(
        "",
        description="address that clients use, without the trailing slash; empty: the request's",
    )
    allowed_hosts: str = Field(
        "", description="comma-separated host names that clients may use; empty: any"
    )
    max_connections: int = Field(
        1024, ge=1, description="open connections, including event streams; others get 503"
    )
    trusted_proxies: str = Field(
        "127.0.0.1", description="proxies whose `X-Forwarded-For` and `-Proto` count; `*`: any"
    )
    max_body_bytes: int = Field(
        8 * 2**20, ge=1024, description="larger requests are refused unread (413)"
    )
    rate_limit: str = Field(
        "120/minute",
        description="diagnoses for each client; empty: no limit; loopback clients are exempt",
    )
    rate_limit_storage: str = Field(
        "async+memory://", description="where the counts are stored (a URL of the `limits` library)"
    )
    rate_limit_loopback: bool = Field(False, description="also count loopback clients")
    api_keys: str = Field(
        "", description="comma-separated; if set, creating and deleting require one of them"
    )
    cors_origins: str = Field("", description="comma-separated origins; empty: CORS stays off")

    metrics: bool = Field(True, description="serve `/metrics`")
    worker_metrics_port: int = Field(
        0, ge=0, le=65535, description="port of a worker's own `/metrics`; 0: none"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="`debug`, `info`, `warning` or `error`"
    )
    log_format: Literal["console", "json"] = Field(
        "console", description="`console` for people, `json` for machines"
    )

    @field_validator("torch_sandboxes")
    @classmethod
    def _name_places(cls, value: str) -> str:
        for item in listed(value):
            if not _is_torch(item):
                raise ValueError(f"{item!r} is not a version and an absolute path: 2.4=/…")
        return value

    @property
    def torches(self) -> dict[str, Path]:
        """Return where each further version of torch is, by the name that requests choose it by:
        an interpreter or a launcher's socket. Nothing, where nothing is run."""
        if self.sandbox == "none" and not self.sandbox_socket:
            return {}
        pairs = (item.partition("=") for item in listed(self.torch_sandboxes))
        return {name.strip(): Path(place.strip()) for name, _, place in pairs}

    @property
    def store_url(self) -> str:
        """Return the database as SQLAlchemy writes it, with an asynchronous driver."""
        if not self.database_url:
            return f"sqlite+aiosqlite:///{(self.var_dir / 'gradmend.sqlite3').absolute()}"
        scheme, _, rest = self.database_url.partition("://")
        drivers = {
            "postgres": "postgresql+psycopg",
            "postgresql": "postgresql+psycopg",
            "sqlite": "sqlite+aiosqlite",
        }
        return f"{drivers.get(scheme, scheme)}://{rest}"

    @property
    def workers(self) -> int:
        """Return how many diagnoses a process runs at once."""
        return self.concurrency or len(os.sched_getaffinity(0))


def _is_torch(item: str) -> bool:
    name, _, place = item.partition("=")
    return bool(name.strip()) and Path(place.strip()).is_absolute()


def listed(value: str) -> list[str]:
    """Return the items of a comma separated setting."""
    return [item.strip() for item in value.split(",") if item.strip()]


def table() -> str:
    """Return the settings as a Markdown table."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in ("", None) else f"`{field.default}`"
        lines.append(f"| `GRADMEND_{name.upper()}` | {default} | {field.description or ''} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
