"""Settings, read from the environment (`GRADMEND_…`) when a process starts.

The table in docs/settings.md is generated from this class: `python -m app.settings`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything an operator can turn. Durations are seconds, sizes are bytes."""

    model_config = SettingsConfigDict(env_prefix="GRADMEND_", extra="ignore", frozen=True)

    var_dir: Path = Field(Path("var"), description="where the default SQLite database lives")
    database_url: str = Field(
        "", description="an SQLAlchemy URL; empty: SQLite in `var_dir`; else `postgresql://…`"
    )
    jobs: Literal["embedded", "queue"] = Field(
        "embedded",
        description="`embedded` runs diagnoses in the serving process; `queue` leaves them to "
        "`gradmend worker` processes (needs PostgreSQL)",
    )
    concurrency: int = Field(0, ge=0, description="diagnoses at once in a process; 0: one a core")
    queue_limit: int = Field(64, ge=1, description="diagnoses that may wait; beyond it: 503")
    max_attempts: int = Field(3, ge=1, description="how often a diagnosis is started, at most")
    lease_s: float = Field(
        15, gt=0.5, description="silence after which a running diagnosis counts as abandoned"
    )
    sweep_s: float = Field(5, gt=0, description="how often abandoned and expired work is sought")
    retention_days: float = Field(7, gt=0, description="how long a diagnosis is kept")
    keep_on_request: bool = Field(
        True, description="let senders keep a result until they delete it"
    )
    reuse_results: bool = Field(
        True, description="answer a request from the kept result of the very same one"
    )
    prepare_examples: bool = Field(
        False, description="at start, find out what the form's examples show, while nobody waits"
    )
    shutdown_grace_s: float = Field(
        10, ge=0, description="time for running diagnoses to end before they are handed back"
    )

    sandbox: Literal["jail", "container", "none"] = Field(
        "jail", description="the embedded sandbox's backend; `none`: scripts are only read"
    )
    sandbox_socket: str = Field(
        "", description="the socket of a `gradmend sandbox` launcher, used instead"
    )

    sandbox_allow_missing: str = Field(
        "", description="walls that may be missing, named in `/readyz` then: `landlock`"
    )

    assistant_url: str = Field(
        "",
        description="a server of the chat-completions protocol (Ollama, vLLM, llama.cpp, or a "
        "hosted one: `http://localhost:11434/v1`) that is asked for a fix where none of ours is "
        "safe: it gets the script and the evidence; empty: nobody is asked",
    )
    assistant_model: str = Field("", description="the model that is asked")
    assistant_key: str = Field("", description="the key that the server wants, if it does")
    assistant_timeout_s: float = Field(
        60, gt=0, description="how long one answer may take; at most three are asked for"
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on")
    public_url: str = Field(
        "", description="address that clients use, without the trailing slash; empty: as asked"
    )
    allowed_hosts: str = Field(
        "", description="comma separated names that clients may ask for; empty: any"
    )
    max_connections: int = Field(
        1024, ge=1, description="open connections, event streams included; beyond it: 503"
    )
    trusted_proxies: str = Field(
        "127.0.0.1", description="whose `X-Forwarded-For` and `-Proto` are believed; `*`: anyone's"
    )
    max_body_bytes: int = Field(
        8 * 2**20, ge=1024, description="requests beyond it are refused unread (413)"
    )
    rate_limit: str = Field(
        "120/minute",
        description="diagnoses that one client may ask for; empty: no limit; loopback is exempt",
    )
    rate_limit_storage: str = Field(
        "async+memory://", description="where the counts live (a URL of the `limits` library)"
    )
    rate_limit_loopback: bool = Field(False, description="count loopback clients, too")
    api_keys: str = Field(
        "", description="comma separated; when set, creating and deleting need one of them"
    )
    cors_origins: str = Field("", description="comma separated origins; empty: CORS stays off")

    metrics: bool = Field(True, description="serve `/metrics`")
    worker_metrics_port: int = Field(
        0, ge=0, le=65535, description="port for a worker's own `/metrics`; 0: none"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="`debug`, `info`, `warning` or `error`"
    )
    log_format: Literal["console", "json"] = Field(
        "console", description="`console` for people, `json` for machines"
    )

    @property
    def store_url(self) -> str:
        """The database as SQLAlchemy spells it, with an asynchronous driver."""
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
        """How many diagnoses a process runs at once."""
        return self.concurrency or len(os.sched_getaffinity(0))


def listed(value: str) -> list[str]:
    """The items of a comma separated setting."""
    return [item.strip() for item in value.split(",") if item.strip()]


def table() -> str:
    """The settings as a Markdown table."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in ("", None) else f"`{field.default}`"
        lines.append(f"| `GRADMEND_{name.upper()}` | {default} | {field.description or ''} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
