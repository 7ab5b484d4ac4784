"""Exchange data between the sandbox's own processes: frames of bytes, JSON in frames, sockets in
messages.

A frame is its length (4 bytes, big-endian) and that many bytes.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from typing import Any

MAX_FRAME = 32 << 20

_HEADER = struct.Struct(">I")
_HANDOVER = b"s"


class WireError(Exception):
    """The other side broke the rules or went away in the middle of a frame."""


def pack(payload: bytes) -> bytes:
    return _HEADER.pack(len(payload)) + payload


def pack_json(value: Any) -> bytes:
    return pack(json.dumps(value).encode())


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Return the next frame. Raises `WireError` if the stream ends or the frame is too long."""
    try:
        (length,) = _HEADER.unpack(await reader.readexactly(_HEADER.size))
        if length > MAX_FRAME:
            raise WireError(f"a frame of {length} bytes is too long")
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        raise WireError("the other side went away") from error


async def read_json(reader: asyncio.StreamReader) -> Any:
    payload = await read_frame(reader)
    try:
        return json.loads(payload)
    except ValueError as error:
        raise WireError("a frame that is not JSON") from error


def receive_frame(source: int) -> bytes:
    """Return the next frame from a blocking descriptor. Raises `WireError` if it ends first."""
    (length,) = _HEADER.unpack(_receive_exactly(source, _HEADER.size))
    return _receive_exactly(source, length)


def _receive_exactly(source: int, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(source, min(size - len(parts), 1 << 20))
        if not part:
            raise WireError("the other side went away")
        parts += part
    return bytes(parts)


def hand_over(channel: socket.socket, end: socket.socket) -> None:
    """Give `end` to the process at the other end of a SOCK_SEQPACKET `channel`."""
    socket.send_fds(channel, [_HANDOVER], [end.fileno()])
    end.close()


def take_over(channel: socket.socket) -> socket.socket | None:
    """Return the next socket sent through `channel`; None once the other side has closed it."""
    message, handles, _, _ = socket.recv_fds(channel, len(_HANDOVER), 1)
    if not message or not handles:
        return None
    return socket.socket(fileno=handles[0])
