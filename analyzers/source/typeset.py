"""The signs that word processors, forums, text recognition and other keyboards put in place of
ASCII."""

from __future__ import annotations

_SIGNS = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\xa0": " ", "\u200b": None,
        "\ufeff": None, "−": "-", "–": "-", "—": "-", "（": "(", "）": ")", "，": ",", "：": ":",
        "；": ";", "＝": "=", "【": "[", "】": "]", "…": "...",
    }
)  # fmt: skip


def plain(text: str) -> str:
    """The text in ASCII's own signs."""
    return text.translate(_SIGNS)
