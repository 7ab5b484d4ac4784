"""A language model as a further proposer of fixes: off by default, asked last, never believed."""

from app.assistant.client import Assistant, AssistantError, assistant_of

__all__ = ["Assistant", "AssistantError", "assistant_of"]
