"""The examples' results, found before anybody asks for them: a click shows them at once."""

from __future__ import annotations

import asyncio

import structlog

from app.jobs import QueueFullError
from app.pages.examples import examples
from app.pages.form import FormInput
from app.request.limits import check
from app.service import Service

PATIENCE_S = 300
LOOK_S = 1.0

log = structlog.get_logger()


async def prepare_examples(service: Service) -> None:
    """Diagnose the examples that this version has no result of, one by one, while nobody waits."""
    for example in examples():
        request = check(FormInput(example.script, example.traceback).request())
        await _quiet(service)
        if await service.runner.knows(request):
            continue
        try:
            diagnosis_id = await service.jobs.submit(request, None, "examples")
        except QueueFullError:
            continue
        await service.wait(diagnosis_id, PATIENCE_S)
    log.info("examples are ready")


async def _quiet(service: Service) -> None:
    """Until no request waits."""
    while True:
        if not await service.jobs.waiting():
            return
        await asyncio.sleep(LOOK_S)
