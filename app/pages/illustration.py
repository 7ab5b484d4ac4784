"""What Gradmend itself says about a pattern's broken example.

The examples are part of the program, so they are read right here. What reading cannot tell (an
error that only a run shows) has no picture.
"""

from __future__ import annotations

from functools import cache

from markupsafe import Markup

from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.project import Project
from app.present.guide import guides
from app.present.picture import draw
from app.present.report import cause
from app.present.scene import scene_of
from app.request.case import Case

FILE = "example.py"


@cache
def illustration(name: str) -> Markup | None:
    """The picture of graph lifetimes in the pattern's broken example."""
    guide = guides()[name]
    project = Project({FILE: guide.broken}, FILE)
    reading = read(project)
    found = [one for one in classify(project, reading.evidence) if one.pattern == name]
    if not found:
        return None
    found_cause = cause(found[0], Case(project, None, reading, time_limit_s=0))
    scene = scene_of(found_cause, guide.shown_as, project.files)
    return draw(scene) if scene else None
