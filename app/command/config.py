"""`[tool.gradmend]` of the nearest `pyproject.toml`, as ruff and pytest look for theirs."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.command.options import BadInput, Run

FILE = "pyproject.toml"


class ProjectConfig(BaseModel):
    """What a project sets for all its runs; options of the command line come before it."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=lambda name: name.removesuffix("_s").replace("_", "-")
    )

    run: Run = "auto"
    time_limit_s: float = Field(20, ge=1, le=60)
    unsafe_fixes: bool = False
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    server: str = ""
    torch: str = ""


def config_of(folder: Path) -> ProjectConfig:
    """Return the settings for what is started in `folder`. Raises `BadInput` for a table that
    holds something else."""
    for place in (folder, *folder.parents):
        path = place / FILE
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
        except OSError:
            continue
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}.") from None
        if "gradmend" in table:
            return _checked(path, table["gradmend"])
    return ProjectConfig()


def _checked(path: Path, table: object) -> ProjectConfig:
    try:
        return ProjectConfig.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, ("tool.gradmend", *first["loc"])))
        raise BadInput(f"{path}: [{where}]: {first['msg']}.") from None
