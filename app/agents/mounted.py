"""The tools over HTTP, in the service. What a diagnosis is allowed, it is allowed here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from app.agents.answers import Applied, Diagnosed, applied, diagnosed
from app.agents.tools import add_diagnose, server_of
from app.agents.verify_tool import VerifiedChange, add_verify, verified_change
from app.api.common import existing, found, with_address
from app.change_schemas import VerificationRequest
from app.command.fixing import caveat, chosen, why_none
from app.command.options import ARGUMENTS, Options
from app.http.problems import not_found
from app.schemas import Diagnosis, DiagnosisRequest, Findings
from app.service import Service
from app.store.request_kinds import VERIFICATION

WAIT_S = 55


class ServiceDesk:
    """Takes requests through the service's own door: its limits, queue and store."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def diagnose(self, request: DiagnosisRequest, context: Context) -> Diagnosed:
        """Accept, wait, and tell; what takes longer has an address."""
        name = await self._service.accept(_http(context), request)
        await self._service.wait(name, WAIT_S)
        diagnosis = await self._diagnosis(name, context)
        answer = diagnosed(name, diagnosis)
        if diagnosis.verdict is None:
            answer.next = f"Still at work; the result will be at {diagnosis.url}"
        return answer

    async def verify(self, sent: VerificationRequest, context: Context) -> VerifiedChange:
        """Accept, wait, and tell; what takes longer has an address."""
        name = await self._service.accept_change(_http(context), sent)
        await self._service.wait(name, WAIT_S)
        result = await existing(self._service, name, VERIFICATION)
        answer = verified_change(result, name)
        if result.verdict is None:
            url = with_address(_http(context), self._service, result).url
            answer.next = f"Still at work; the result will be at {url}"
        return answer

    async def apply(self, name: str, n: int | None, unsafe: bool, context: Context) -> Applied:
        """Return the diff of a fix; a long one as an address."""
        diagnosis = await self._diagnosis(name, context)
        if n is not None and n > len(diagnosis.patches):
            raise not_found(f"fix {n} of this diagnosis")
        options = Options((), fix=n or 1, chosen=n is not None, unsafe=unsafe, switches=ARGUMENTS)
        patch = chosen(diagnosis, options)
        if patch is None:
            return applied(f"There is nothing to apply: {why_none(diagnosis, options)}.")
        base = diagnosis.url.rpartition("/d/")[0]
        where = f"{base}/v1/diagnoses/{name}/patches/{patch.n}.diff"
        hint = f"Apply this diff: curl {where} | git apply{caveat(patch)}"
        return applied(hint, patch.diff)

    async def findings(self, name: str, context: Context) -> Findings:
        """Return what a diagnosis found."""
        return await self._diagnosis(name, context)

    async def _diagnosis(self, name: str, context: Context) -> Diagnosis:
        return with_address(_http(context), self._service, await found(self._service, name))


def _http(context: Context) -> Request:
    """Return the HTTP request that carries a call."""
    request = context.request_context.request
    assert isinstance(request, Request)
    return request


@asynccontextmanager
async def answering(service: Service) -> AsyncIterator[ASGIApp]:
    """Yield the application that answers agents. Each call is on its own: there are no sessions."""
    desk = ServiceDesk(service)
    server = server_of(desk)
    add_diagnose(server, desk)
    add_verify(server, desk)
    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=service.settings.max_body_bytes,
        # Hosts and origins are the service's own guards' matter, by its settings.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with server.session_manager.run():
        yield server.session_manager.handle_request
