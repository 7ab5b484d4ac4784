"""Any server that speaks the chat-completions protocol, by its official client library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gradmend.installing import pip_install

if TYPE_CHECKING:
    from app.settings import Settings

Message = dict[str, str]
"""`role` and `content`, as the protocol has them."""

LONGEST_ANSWER = 8192  # tokens that are asked for, at most
MOST_BYTES = 256 * 1024  # of an answer that is looked at


class AssistantError(Exception):
    """The assistant did not answer; the message says why, without what was sent."""


class Assistant:
    """One model of one server. `host` names for people where their script is sent."""

    def __init__(self, url: str, model: str, key: str, limit_s: float) -> None:
        self.host = urlsplit(url).netloc or url
        self.model = model
        self._url = url
        self._key = key
        self._limit_s = limit_s

    async def answer(self, messages: list[Message]) -> str:
        """Return the model's answer to a conversation. Raises `AssistantError`."""
        import openai  # only with the `assistant` extra, and only where one is asked

        client = openai.AsyncOpenAI(
            base_url=self._url, api_key=self._key or "none", timeout=self._limit_s, max_retries=1
        )
        sent: Any = messages
        try:
            async with client:
                found = await client.chat.completions.create(
                    model=self.model, messages=sent, max_tokens=LONGEST_ANSWER, temperature=0
                )
            text = found.choices[0].message.content or ""
        except openai.OpenAIError as error:
            raise AssistantError(type(error).__name__) from None
        except (AttributeError, IndexError, TypeError, ValueError):
            raise AssistantError("an answer that is none of the protocol's") from None
        return text[:MOST_BYTES]


def assistant_of(settings: Settings) -> Assistant | None:
    """Return the assistant that the settings name; None where none is configured. Raises
    `SystemExit` where it lacks a model or the client library."""
    if not settings.assistant_url:
        return None
    if not settings.assistant_model:
        raise SystemExit("GRADMEND_ASSISTANT_URL is set: set GRADMEND_ASSISTANT_MODEL, too.")
    from importlib.util import find_spec

    if find_spec("openai") is None:
        raise SystemExit(
            "GRADMEND_ASSISTANT_URL is set, and the package openai is not installed here: "
            f"{pip_install('assistant')}."
        )
    return Assistant(
        settings.assistant_url,
        settings.assistant_model,
        settings.assistant_key,
        settings.assistant_timeout_s,
    )
