"""Explanations are Markdown; this is the only way they become HTML."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from app.present.highlight import highlight_block

LONGEST = 8192
"""Characters; a longer text is shown as it stands, as emphasis takes quadratic time to pair."""


def _colour(code: str, language: str, _attributes: str) -> str:
    return str(highlight_block(code)) if language in ("python", "py") else ""


_MARKDOWN = MarkdownIt(
    "commonmark", {"html": False, "linkify": False, "highlight": _colour}
).disable(["image", "link", "autolink"])


def to_html(text: str) -> Markup:
    """Return safe HTML: raw tags, images and links are shown as text, as much of it quotes
    scripts."""
    return Markup(_MARKDOWN.render(text)) if len(text) <= LONGEST else escape(text)


def to_inline_html(text: str) -> Markup:
    """Return safe HTML for one sentence, without a surrounding paragraph."""
    return Markup(_MARKDOWN.renderInline(text)) if len(text) <= LONGEST else escape(text)
