"""Connections and characters that act on the service, or on who reads its pages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.types import Message

from app.diagnose import Progress
from app.http import protocol
from app.http.protocol import BoundedProtocol
from app.main import create_app
from app.present.markdown import to_html, to_inline_html
from app.present.visible import all_visible, escaped_json, visible
from app.schemas import Carrier, DiagnosisRequest, Event, Findings
from app.settings import Settings
from tests.serving import serving
from tests.unit.test_app_guarded import URL, done
from tests.unit.test_pages_parts import cause


async def test_hosts_that_are_not_allowed_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path, done, allowed_hosts="test") as http:
        assert (await http.get("/healthz")).status_code == 200
        answer = await http.get("/healthz", headers={"Host": "evil.example"})
        assert answer.status_code == 400


@pytest.mark.parametrize("sent", [b"GET / HTT", b"POST / HTTP/1.1\r\nHost: t\r\n"])
async def test_a_slow_head_ends_its_connection(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"408" in await _answered(sent, monkeypatch)


async def test_a_slow_body_ends_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nab"
    assert b"408" in await _answered(head, monkeypatch)


async def test_a_head_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"GET / HTTP/1.1\r\nHost: t\r\n" + b"x-a: " + b"a" * (1 << 20)
    assert b"400" in await _answered(head, monkeypatch)


async def _answered(sent: bytes, patch: pytest.MonkeyPatch) -> bytes:
    """What a server whose patience is short answers before it hangs up."""
    import uvicorn
    from uvicorn.server import ServerState

    patch.setattr(protocol, "HEAD_S", 0.2)
    patch.setattr(protocol, "BODY_S", 0.2)
    config = uvicorn.Config(
        _reading, http=BoundedProtocol, h11_max_incomplete_event_size=protocol.HEAD_BYTES
    )
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: BoundedProtocol(config, state, {}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(sent)
        answer = await reader.read(64)
        writer.close()
    return answer


async def _reading(scope: dict[str, object], receive: object, send: object) -> None:
    """An application that reads its request's body to the end, and answers nothing."""
    assert callable(receive)
    while (await receive()).get("more_body"):
        pass


ACTING = "\x1b]0;title\x07 \x9b31m \u202etxt\u2066 \x00"


def test_characters_that_act_become_characters_that_are_read() -> None:
    shown = visible(ACTING)
    assert shown.isprintable()
    assert "title" in shown
    assert visible("a\tb\nc é 漢") == "a\tb\nc é 漢"
    assert all_visible({"a": ["\x1b", 1]}) == {"a": ["␛", 1]}
    assert json.loads(escaped_json(json.dumps(ACTING, ensure_ascii=False))) == ACTING


@pytest.mark.parametrize("text", ["[Click](http://evil.example)", "<http://evil.example>"])
def test_quoted_text_makes_no_link(text: str) -> None:
    assert "<a" not in to_inline_html(text)
    assert "<a" not in to_html(text)


async def test_pages_and_pictures_hold_no_characters_that_act(tmp_path: Path) -> None:
    async def quoted(request: DiagnosisRequest, progress: Progress) -> Findings:
        made = Event(file="train.py", line=1, iteration=1, code=ACTING)
        found = cause(created=made, carrier=Carrier(name=ACTING, file="train.py", line=1))
        return Findings(verdict="likely", summary=f"`{ACTING}` kept it.", causes=[found])

    async with serving(tmp_path, quoted) as http:
        text = ACTING.replace("\0", "")  # which no source may hold
        asked = {"script": f"x = 1  # {text}\n", "filename": "train.py"}
        name = (await http.post(f"{URL}?wait=20", json=asked)).json()["id"]
        page = (await http.get(f"/d/{name}")).text
        picture = (await http.get(f"{URL}/{name}/graph.svg")).text
    for shown in (page, picture):
        assert "title" in shown
        assert not [c for c in shown if c not in "\n\t" and not c.isprintable() and c != "\xa0"]
    ElementTree.fromstring(picture)


async def test_an_upload_that_breaks_off_is_no_error_of_the_service(tmp_path: Path) -> None:
    said: list[Message] = [
        {"type": "http.request", "body": b'{"script": "', "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": URL,
        "raw_path": URL.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"test"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 5000),
        "server": ("test", 80),
    }

    async def receive() -> Message:
        return said.pop(0)

    async def send(message: Message) -> None: ...

    app = create_app(Settings(var_dir=tmp_path, sandbox="none", shutdown_grace_s=0), done)
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)  # what it raises here is logged as its own error
    assert not said
