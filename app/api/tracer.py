"""The tracer as one file, to run with one's own data and GPU."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, Response

from sandbox.inside.bundle import build

router = APIRouter(tags=["tracer"])


@cache
def tracer_file() -> str:
    """Return the tracer as one file's source, built once a process."""
    return build()


@router.get(
    "/gradmend_trace.py",
    operation_id="download_tracer",
    response_class=Response,
    responses={200: {"content": {"text/x-python": {}}}},
)
async def download() -> Response:
    """`python gradmend_trace.py train.py` writes what a diagnosis takes in its field `trace`."""
    return Response(
        tracer_file(),
        media_type="text/x-python; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="gradmend_trace.py"'},
    )
