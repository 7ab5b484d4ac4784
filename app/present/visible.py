"""Characters that would act rather than be read: shown as what they are.

A script's names, comments and output reach terminals and pages. Escape sequences there could set a
title, fill a clipboard, or turn a line around.
"""

from __future__ import annotations

from typing import Any

_PICTURES = 0x2400  # ␀ and the pictures of the other control characters
_REPLACED = "\ufffd"
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_NO_CHARACTERS = (0xFFFE, 0xFFFF)
_KEPT = "\t\n"

_CONTROLS = {code: chr(_PICTURES + code) for code in range(0x20) if chr(code) not in _KEPT}
_OTHERS = (0x7F, *range(0x80, 0xA0), *_DIRECTIONS, *_NO_CHARACTERS)
_TABLE = _CONTROLS | dict.fromkeys(_OTHERS, _REPLACED)
_ESCAPES = {code: f"\\u{code:04x}" for code in _OTHERS}


def visible(text: str) -> str:
    """Return the text with control characters, except tabs and line ends, made visible."""
    return text.translate(_TABLE)


def all_visible(value: Any) -> Any:
    """Return the same for every text in lists and dictionaries."""
    match value:
        case str():
            return visible(value)
        case list():
            return [all_visible(item) for item in value]
        case dict():
            return {key: all_visible(item) for key, item in value.items()}
    return value


def escaped_json(text: str) -> str:
    """Return equivalent JSON with the control characters escaped that JSON itself permits."""
    return text.translate(_ESCAPES)
