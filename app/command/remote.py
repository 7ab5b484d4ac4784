"""Diagnoses and verifications by a running service, in place of a sandbox of this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from json import loads
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError
from rich.console import Console
from rich.markup import escape

from app.change_schemas import ChangeFindings, ChangeRequest
from app.command.options import BadInput, NoAnswerError
from app.diagnose import Progress
from app.request.change_versions import as_sent
from app.schemas import Cause, DiagnosisRequest, Findings, Patch
from gradmend.installing import pip_install

if TYPE_CHECKING:
    import httpx

Found = TypeVar("Found", bound=BaseModel)

KEY = "GRADMEND_SERVER_KEY"
"""The environment variable with the API key for a service that requires one."""

ADDRESS = "give an address such as http://127.0.0.1:8000"
CONNECT_S = 5.0
SILENCE_S = 60.0  # a service that works sends something every 15 s


@dataclass(frozen=True)
class RemoteService:
    """A running service at an address."""

    address: str
    http: httpx.AsyncClient

    async def diagnose(self, request: DiagnosisRequest, *, progress: Progress) -> Findings:
        """Return the service's findings. Raises `BadInput` as `_findings` does."""
        return await self._findings("/v1/diagnoses", request, Findings, progress)

    async def verify(self, request: ChangeRequest, *, progress: Progress) -> ChangeFindings:
        """Return the service's verdict on a change. Raises `BadInput` as `_findings` does."""
        sent = as_sent(request)
        return await self._findings("/v1/verifications", sent, ChangeFindings, progress)

    async def _findings(
        self, path: str, request: BaseModel, kind: type[Found], progress: Progress
    ) -> Found:
        """Send a request, report its progress and return what was found. Cancelling deletes it
        there.

        Raises `BadInput` if the service refuses the request, `NoAnswerError` if it does not answer.
        """
        with self._answering():
            sent = request.model_dump(mode="json", exclude_defaults=True)
            posted = asyncio.create_task(self._post(path, sent))
            try:
                place = await asyncio.shield(posted)
                await self._follow(f"{place}/events", progress)
            except asyncio.CancelledError:
                with suppress(BadInput):  # the service may have begun before its answer came
                    await self._asked("DELETE", await posted)
                raise
            return kind.model_validate((await self._asked("GET", place)).json())

    async def _post(self, path: str, sent: dict[str, Any]) -> str:
        made = await self._asked("POST", path, params={"wait": 0}, json=sent)
        return f"{path}/{made.json()['id']}"

    async def _asked(self, method: str, path: str, **more: Any) -> httpx.Response:
        answer = await self.http.request(method, path, **more)
        if answer.is_error and "problem" in answer.headers.get("content-type", ""):
            raise _kind(answer)(f"{self.address}: {answer.json()['detail']}")
        return answer.raise_for_status()

    async def _follow(self, events: str, progress: Progress) -> None:
        async with self.http.stream("GET", events) as answer:
            answer.raise_for_status()
            kind = ""
            async for line in answer.aiter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    kind = value
                elif field == "data":
                    await _report(kind, value, progress)
                    if kind == "done":
                        return
        raise NoAnswerError(f"{self.address} ended before it had answered.")

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Turn what can go wrong between here and the service into `BadInput`."""
        import httpx

        try:
            yield
        except httpx.HTTPStatusError as error:
            status = f"{error.response.status_code} {error.response.reason_phrase}"
            why = f"{self.address} is no Gradmend server: it answers {status}."
            raise _kind(error.response)(why) from None
        except httpx.UnsupportedProtocol:
            raise BadInput(f"--server {self.address}: {ADDRESS}.") from None
        except httpx.HTTPError as error:
            raise NoAnswerError(
                f"No Gradmend server answers at {self.address} ({error or type(error).__name__}). "
                "Start one with `gradmend serve`, or leave out --server."
            ) from None
        except (ValidationError, KeyError, TypeError):
            why = "its answer is none that this version knows"
            raise BadInput(f"{self.address} is another kind or version of server: {why}.") from None


def _kind(answer: httpx.Response) -> type[BadInput]:
    """Return the error for an answer above 399: the request's fault, or the server's."""
    return NoAnswerError if answer.is_server_error else BadInput


@asynccontextmanager
async def server_at(address: str, messages: Console) -> AsyncIterator[RemoteService]:
    """The service at an address, which is printed: it gets the sources. Raises `BadInput` for what
    is no address, or without httpx.
    """
    messages.print(escape(f"Asking {address}."), soft_wrap=True)
    try:
        import httpx
    except ModuleNotFoundError:
        raise BadInput(f"--server needs httpx: {pip_install('client')}") from None
    key = os.environ.get(KEY)
    try:
        http = httpx.AsyncClient(
            base_url=address,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S),
        )
    except httpx.InvalidURL:
        raise BadInput(f"--server {address}: {ADDRESS}.") from None
    async with http:
        yield RemoteService(address, http)


async def _report(kind: str, data: str, progress: Progress) -> None:
    if kind == "progress":
        known = loads(data)
        await progress.stage(known["stage"], known["done"], known["total"], known["message"])
    elif kind == "cause":
        await progress.cause(Cause.model_validate_json(data))
    elif kind == "patch":
        await progress.patch(Patch.model_validate_json(data))
