"""Templates into responses."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from app.pages import listing
from app.pages.assets import asset_url
from app.present import fix_wording, wording
from app.present.highlight import highlight_block
from app.present.markdown import to_html, to_inline_html
from app.present.visible import visible


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("app", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(asset=asset_url, wording=wording, fix_wording=fix_wording)
    environment.filters.update(
        markdown=to_html,
        inline=to_inline_html,
        python=highlight_block,
        mark=listing.plain,
        day=_day,
    )
    return environment


def page(template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """The rendered template; `status` is the HTTP status."""
    context.setdefault("assistant", "")
    return HTMLResponse(visible(_environment().get_template(template).render(context)), status)


def _day(moment: datetime) -> str:
    return f"{moment:%d %B %Y}".lstrip("0")
