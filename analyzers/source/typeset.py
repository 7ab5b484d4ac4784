"""Replace the characters that word processors, forums, text recognition and other keyboards use
instead of ASCII.
"""

from __future__ import annotations

_SIGNS = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\xa0": " ", "\u200b": None,
        "\ufeff": None, "−": "-", "–": "-", "—": "-", "（": "(", "）": ")", "，": ",", "：": ":",
        "；": ";", "＝": "=", "【": "[", "】": "]", "…": "...",
    }
)  # fmt: skip


def plain(text: str) -> str:
    """Return the text with ASCII characters."""
    return text.translate(_SIGNS)
