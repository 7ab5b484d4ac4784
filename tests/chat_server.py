"""A server of the chat-completions protocol that gives recorded answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer:
    """Answers each request with the next text, the last one for ever. `raw` is sent as it is."""

    def __init__(self, answers: Sequence[str], *, status: int = 200, raw: bytes | None = None):
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def do_POST(self) -> None:
                assert self.path == "/v1/chat/completions"
                size = int(self.headers["Content-Length"])
                outer.requests.append(json.loads(self.rfile.read(size)))
                outer.keys.append(self.headers["Authorization"])
                text = answers[min(len(outer.requests), len(answers)) - 1]
                data = raw if raw is not None else json.dumps(_completion(text)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def said(self, request: int) -> list[tuple[str, str]]:
        """The conversation that a request carried: role and text."""
        return [(one["role"], one["content"]) for one in self.requests[request]["messages"]]


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "recorded",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@contextmanager
def answering(
    answers: Sequence[str] = ("",), *, status: int = 200, raw: bytes | None = None
) -> Iterator[ChatServer]:
    """A running server."""
    made = ChatServer(answers, status=status, raw=raw)
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        thread.join()
        made.server.server_close()
