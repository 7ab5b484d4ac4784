"""Settings in a YAML file next to the script that a decorator names, as Hydra's does: read if
PyYAML is installed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .configs import AttributeDict, configured, put

_OWN = "defaults"  # the groups of which one file each is chosen


def settings_in(home: str, asked: Mapping[str, Any]) -> AttributeDict | None:
    """Return the settings in the file that `config_path` and `config_name` name, with those of the
    groups that it chooses, and what arguments set.

    None if there is no such file, nothing to read it with, or a part of it that is to be computed.
    """
    folder, name = (str(asked.get(key) or "") for key in ("config_path", "config_name"))
    file = Path(home, folder, name)
    if file.suffix not in (".yaml", ".yml"):
        file = file.with_name(f"{file.name}.yaml")
    settings = _read(file) if folder or name else None
    if settings is None:
        return None
    for choice in settings.pop(_OWN, None) or ():
        for group, chosen in choice.items() if isinstance(choice, dict) else ():
            part = _read(file.parent / str(group) / f"{chosen}.yaml")
            if part is None:
                return None
            settings[group] = configured({**part, **settings.get(group, {})})
    for word in sys.argv[1:]:
        key, equals, value = word.lstrip("+").partition("=")
        if equals and not key.startswith("-"):
            put(settings, key, value)
    return settings


def _read(file: Path) -> AttributeDict | None:
    if not file.is_file() or importlib.util.find_spec("yaml") is None:
        return None
    import yaml

    text = file.read_text(encoding="utf-8")
    try:
        read = None if "${" in text else yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return AttributeDict(read) if isinstance(read, dict) else None
