"""The GitHub Action on a pull request: its event file, and a server that plays GitHub's API."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.command.github import Comments, PullRequest
from tests.integration.test_action import step
from tests.repository import GitRepository
from tests.verified import HEALTHY

pytestmark = pytest.mark.rotating

PYTHON = Path(sys.executable)  # the sandbox does not see what an environment borrows
VERIFY = 2  # the action's third step
SCRIPT = HEALTHY.replace(
    "model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))\n",
    "from net import build\n\nmodel = build()\n",
)
NET = "from torch import nn\n\n\ndef build():\n    return nn.Linear(4, 1)\n"


class GitHub:
    """Keeps the comments of pull request 7, in pages; refuses writers without the token."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = [
            {"id": n, "body": f"comment {n}"} for n in range(130)
        ]
        self.written: list[str] = []
        self.refuses = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def do_GET(self) -> None:
                page = int(re.search(r"[?&]page=(\d+)", self.path)[1])  # type: ignore[index]
                assert "/repos/anna/nets/issues/7/comments" in self.path
                self._answer(200, outer.comments[100 * (page - 1) : 100 * page])

            def do_POST(self) -> None:
                self._write({"id": 1000 + len(outer.comments)}, new=True)

            def do_PATCH(self) -> None:
                number = int(self.path.rpartition("/")[2])
                self._write(next(one for one in outer.comments if one["id"] == number), new=False)

            def _write(self, comment: dict[str, Any], *, new: bool) -> None:
                if outer.refuses or self.headers["Authorization"] != "Bearer t0ken":
                    self._answer(403, {"message": "Resource not accessible by integration"})
                    return
                size = int(self.headers["Content-Length"])
                comment["body"] = json.loads(self.rfile.read(size))["body"]
                outer.written.append("new" if new else "same")
                if new:
                    outer.comments.append(comment)
                    comment["user"] = {"login": "github-actions[bot]", "type": "Bot"}
                self._answer(201 if new else 200, {**comment, "html_url": "https://x/7"})

            def _answer(self, status: int, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def ours(self) -> list[str]:
        return [one["body"] for one in self.comments if one["body"].startswith("<!-- gradmend")]


@pytest.fixture
def github() -> Iterator[GitHub]:
    made = GitHub()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def pull_request(tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """A repository on a pull request's branch; `main` has gone on since it was begun."""
    made = GitRepository(tmp_path / "work")
    files = {"train.py": SCRIPT, "net.py": NET, "other.py": HEALTHY, "util.py": "x = 1\n"}
    made.commit("start", files)
    made.git("checkout", "-q", "-b", "change")
    made.git("checkout", "-q", "main")
    base = made.commit("main goes on", {"other.py": HEALTHY.replace("0.1", "0.3")})
    made.git("checkout", "-q", "change")
    event = {"pull_request": {"number": 7, "base": {"sha": base}}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    for name, value in {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "anna/nets",
        "GITHUB_API_URL": github.url,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }.items():
        monkeypatch.setenv(name, value)
    return made


def test_one_comment_says_what_the_change_does_and_is_rewritten(
    pull_request: GitRepository, github: GitHub
) -> None:
    pull_request.commit(
        "deeper",
        {
            "net.py": NET.replace("nn.Linear(4, 1)", "nn.Sequential(nn.Linear(4, 1), nn.Tanh())"),
            "new.py": HEALTHY,
        },
    )
    done = step(VERIFY, pull_request.folder, PYTHON, verify="comment", token="t0ken")
    assert done.returncode == 0, done.stdout + done.stderr
    (body,) = github.ours
    rows = [line for line in body.splitlines() if line.startswith("| <code>")]
    assert [("train.py" in rows[1], "Changes the training" in rows[1])] == [(True, True)], body
    assert "new.py" in rows[0]
    assert "| new |" in rows[0]
    assert "other.py" not in body, "main's own change is none of this pull request's"
    pull_request.commit("undo", {"net.py": NET.replace("return", "# a linear model\n    return")})
    again = step(VERIFY, pull_request.folder, PYTHON, verify="require", token="t0ken")
    assert again.returncode == 0, again.stdout + again.stderr
    (body,) = github.ours
    assert "Same training" in body
    assert github.written == ["new", "same"]


def test_a_strangers_comment_that_copies_the_marker_is_left_as_it_is() -> None:
    marker = "<!-- gradmend -->"
    made = [
        {
            "id": 1,
            "body": f"{marker}\nmine",
            "author_association": "NONE",
            "user": {"type": "User"},
        },
        {"id": 2, "body": f"{marker}\nours", "author_association": "NONE", "user": {"type": "Bot"}},
    ]
    asked = list[tuple[str, str]]()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.path))
        return httpx.Response(
            200, json=made if request.method == "GET" else {"html_url": "https://x/7"}
        )

    with httpx.Client(base_url="https://x", transport=httpx.MockTransport(answer)) as http:
        comments = Comments(http, PullRequest("anna/nets", 7, "0" * 40), marker)
        assert comments.put("new", always=False) == "https://x/7"
        assert asked[-1] == ("PATCH", "/repos/anna/nets/issues/comments/2")
        del made[1]
        assert comments.put("new", always=False) == ""
        assert asked[-1][0] == "GET"


def test_a_change_can_fail_the_job_and_a_token_that_may_not_write_does_not(
    pull_request: GitRepository, github: GitHub, tmp_path: Path
) -> None:
    github.refuses = True
    pull_request.commit("faster", {"other.py": HEALTHY.replace("0.1", "0.2")})
    done = step(VERIFY, pull_request.folder, PYTHON, verify="require", token="t0ken")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "::warning title=Gradmend::" in done.stdout
    assert "pull-requests: write" in done.stdout
    assert github.ours == []
    assert "other" in (tmp_path / "summary.md").read_text()


def test_where_no_training_is_touched_nothing_is_begun(
    pull_request: GitRepository, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_request.commit("words", {"util.py": "x = 2\n", "README": "nets\n"})
    done = step(VERIFY, pull_request.folder, PYTHON, verify="comment", token="t0ken")
    assert done.returncode == 0, done.stdout + done.stderr
    assert github.written == []
    monkeypatch.setenv("GITHUB_EVENT_PATH", "/nowhere")
    none = step(VERIFY, pull_request.folder, PYTHON, verify="comment", token="t0ken")
    assert none.returncode == 64
    assert "no event of a pull request" in none.stderr
