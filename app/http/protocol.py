"""HTTP/1.1 as uvicorn speaks it, with an end to heads and to patience.

h11 bounds the size of a request's head; this bounds how long a head and a body may take.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES = 32 * 1024
HEAD_S = 10.0
BODY_S = 60.0
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """Ends a connection whose request is not there in time."""

    _awaited: object = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect()

    def _expect(self) -> None:
        """Start the clock for the part of the request that comes next."""
        state = self.conn.their_state
        if state is self._awaited:
            return
        self._forget()
        self._awaited = state
        patience = {h11.IDLE: HEAD_S, h11.SEND_BODY: BODY_S}.get(state)
        if patience is not None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(patience, self._give_up)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_TOO_SLOW)
        self.transport.close()
