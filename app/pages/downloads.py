"""What a fix changes, to save: one file as it is, several as a zip."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Path, Response

from analyzers.notebooks.notebook import is_notebook
from app.api.common import DiagnosisId, TheService, found
from app.pages.view import page
from app.schemas import DiagnosisRequest, Patch

router = APIRouter(include_in_schema=False, prefix="/d")
MEDIA_TYPES = {".ipynb": "application/x-ipynb+json"}
PYTHON = "text/x-python; charset=utf-8"


@router.get("/{diagnosis_id}/patches/{n}.py")
@router.get("/{diagnosis_id}/patches/{n}/files")
async def changed_files(
    diagnosis_id: DiagnosisId, n: Annotated[int, Path(ge=0, le=1000)], service: TheService
) -> Response:
    """Every file that the fix changes, fixed: the notebook whole, if that was sent."""
    diagnosis = await found(service, diagnosis_id)
    request = await service.request(diagnosis_id)
    patch = next((patch for patch in diagnosis.patches if patch.n == n), None)
    if patch is None or request is None:
        return page("missing.html", 404)
    files = _changed(patch, request)
    if len(files) == 1:
        ((name, text),) = files.items()
        media_type = MEDIA_TYPES.get(PurePath(name).suffix, PYTHON)
        return _saved(_safe(PurePath(name).name), text.encode(), media_type)
    return _saved(f"gradmend-{n}.zip", _zipped(files), "application/zip")


def _changed(patch: Patch, request: DiagnosisRequest) -> dict[str, str]:
    """Files by path; the script's own name has the suffix of what it is."""
    files = {file.path: file.content for file in patch.files}
    if patch.script != request.script or not files:
        suffix = ".ipynb" if is_notebook(request.script) else ".py"
        files[str(PurePath(request.filename).with_suffix(suffix))] = patch.script
    return files


def _zipped(files: dict[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return held.getvalue()


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name) or "train.py"


def _saved(name: str, content: bytes, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=media_type)
