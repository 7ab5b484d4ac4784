"""GitHub as a workflow's step sees it: the event's file, and one comment on the pull request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from app.command.options import BadInput, NoAnswerError

PATIENCE_S = 30.0
PAGES = 20  # of a hundred comments each
WRITERS = ("OWNER", "MEMBER", "COLLABORATOR")  # of the repository, as the API says it
VERSION = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


@dataclass(frozen=True)
class PullRequest:
    """The pull request of the event that started the workflow."""

    repository: str
    number: int
    base: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> PullRequest:
        """Read the event's file. Raises `BadInput` for what is no event of a pull request."""
        try:
            event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text("utf-8"))
            asked = event["pull_request"]
            repository = environment.get("GITHUB_REPOSITORY") or event["repository"]["full_name"]
            return cls(str(repository), int(asked["number"]), str(asked["base"]["sha"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(
                "This is no event of a pull request: run it in a workflow `on: pull_request`."
            ) from None


@dataclass(frozen=True)
class Comments:
    """The comments of a pull request, by GitHub's REST API. Ours is known by a marker."""

    http: httpx.Client
    asked: PullRequest
    marker: str

    def put(self, body: str, *, always: bool) -> str:
        """Write our comment, or update the one that there is, and return its address.

        Unless `always`, create none. Raises `NoAnswerError` if the API refuses or is not there.
        """
        text = f"{self.marker}\n{body}"
        known = self._ours()
        base = f"/repos/{self.asked.repository}/issues"
        if known is not None:
            return self._done("PATCH", f"{base}/comments/{known}", {"body": text})
        if not always:
            return ""
        return self._done("POST", f"{base}/{self.asked.number}/comments", {"body": text})

    def _ours(self) -> int | None:
        """The number of our comment."""
        for page in range(1, PAGES + 1):
            where = f"/repos/{self.asked.repository}/issues/{self.asked.number}/comments"
            found = self._asked("GET", where, params={"per_page": 100, "page": page}).json()
            for comment in found:
                marked = str(comment.get("body") or "").startswith(self.marker)
                if marked and _may_be_ours(comment):
                    return int(comment["id"])
            if len(found) < 100:
                break
        return None

    def _done(self, method: str, path: str, value: Mapping[str, str]) -> str:
        return str(self._asked(method, path, json=value).json().get("html_url") or "")

    def _asked(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            answer = self.http.request(method, path, **more)
        except httpx.HTTPError as error:
            why = type(error).__name__
            raise NoAnswerError(f"GitHub's API cannot be reached ({why}).") from None
        if answer.status_code in (401, 403, 404):
            raise NoAnswerError(
                f"GitHub's API refuses the comment ({answer.status_code}): the job needs "
                "`permissions: pull-requests: write`, which a fork's pull request never has."
            )
        if answer.is_error:
            raise NoAnswerError(f"GitHub's API answers {answer.status_code}.")
        return answer


def _may_be_ours(comment: Mapping[str, Any]) -> bool:
    """Whether a bot or a writer of the repository made it: a stranger can copy the marker."""
    bot = (comment.get("user") or {}).get("type") == "Bot"
    return bot or comment.get("author_association") in WRITERS


def client(environment: Mapping[str, str]) -> httpx.Client:
    """A client of the API that the workflow names, with its token."""
    token = environment.get("GITHUB_TOKEN", "")
    return httpx.Client(
        base_url=environment.get("GITHUB_API_URL") or "https://api.github.com",
        headers={**VERSION, **({"Authorization": f"Bearer {token}"} if token else {})},
        timeout=PATIENCE_S,
        follow_redirects=True,
    )
