"""What may be sent, and what the refusal says."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from app.http.problems import ProblemError
from app.request.uploads import as_file, bytes_of
from tests.serving import serving
from tests.unit.test_unpacked import zipped

URL = "/v1/diagnoses"
pytestmark = [pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """One service for all: nothing that is refused leaves anything."""
    async with serving(tmp_path_factory.mktemp("service")) as client:
        yield client


def problem(response: httpx.Response, status: int) -> str:
    """The detail of an answer that must be a problem with this status."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    body = response.json()
    assert body["status"] == response.status_code == status, body
    assert body["type"].startswith("urn:gradmend:problem:")
    assert body["title"]
    detail: str = body["detail"]
    return detail


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 422, "script"),
        ({"script": " \n\t"}, 422, "empty"),
        ({"script": "", "files": [{"path": "a.py", "content": "x"}]}, 422, "empty"),
        ({"script": "x\n\0"}, 422, "line 2 holds a NUL"),
        ({"script": "x", "traceback": "\0"}, 422, "traceback: line 1"),
        ({"script": "x\n\ud800"}, 422, "surrogate"),
        ({"script": "x" * 262_145}, 413, "the limit is 262,144"),
        ({"script": "é" * 131_073}, 413, "262,146 bytes"),
        ({"script": "x", "traceback": "x" * 131_073}, 413, "traceback"),
        ({"script": "x", "trace": "x" * 4_194_305}, 413, "trace"),
        ({"script": 7}, 422, "script"),
        ({"script": "x", "time_limit_s": 61}, 422, "time_limit_s"),
        ({"script": "x", "time_limit_s": float("nan")}, 422, "time_limit_s"),
        ({"script": "x", "run": "always"}, 422, "run"),
        ({"scrpt": "y"}, 422, "scrpt is no field; did you mean script?"),
        ({"script": "x", "zzz": 1}, 422, "zzz is no field; the fields are script, filename, "),
        ([], 422, "JSON object"),
    ],
)
async def test_bad_body_is_refused_with_a_reason(
    http: httpx.AsyncClient, body: Any, status: int, said: str
) -> None:
    content = json.dumps(body).encode()
    response = await http.post(URL, content=content, headers={"content-type": "application/json"})
    assert said in problem(response, status)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/passwd", "absolute"),
        ("../x.py", "leaves"),
        ("a/../../x.py", "leaves"),
        ("C:/x.py", "absolute"),
        ("a\\b.py", "backslash"),
        ("a\n.py", "unprintable"),
        ("", "names no file"),
        (".", "names no file"),
        ("train.py", "twice"),
        ("./train.py", "twice"),
        ("train.py/x.py", "below another file"),
    ],
)
async def test_harmful_path_is_refused(http: httpx.AsyncClient, path: str, said: str) -> None:
    files = [{"path": path, "content": ""}]
    response = await http.post(URL, json={"script": "x", "files": files})
    assert said in problem(response, 422)


async def test_files_count_together(http: httpx.AsyncClient) -> None:
    files = [{"path": f"{n}.py", "content": "x" * 700_000} for n in range(3)]
    response = await http.post(URL, json={"script": "x", "files": files})
    assert "2,100,000 bytes" in problem(response, 413)
    many = [{"path": f"{n}.py", "content": ""} for n in range(65)]
    refusal = await http.post(URL, json={"script": "x", "files": many})
    assert problem(refusal, 422) == "files are 65; the limit is 64"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"nonsense"])
async def test_not_json_is_said(http: httpx.AsyncClient, body: bytes) -> None:
    response = await http.post(URL, content=body, headers={"content-type": "application/json"})
    problem(response, 400)


async def test_an_empty_body_is_asked_for_a_script(http: httpx.AsyncClient) -> None:
    said = problem(await http.post(URL), 400)
    assert said == 'The body is empty. Send a JSON object: {"script": "…"}.'


async def test_other_media_types_are_named(http: httpx.AsyncClient) -> None:
    response = await http.post(URL, content=b"x = 1", headers={"content-type": "text/x-python"})
    assert "text/x-python" in problem(response, 415)


async def test_large_body_is_refused_by_its_announced_length(http: httpx.AsyncClient) -> None:
    body = b'{"script": "' + b"x" * 10_000_000 + b'"}'
    problem(await http.post(URL, content=body), 413)


async def test_large_body_is_refused_without_an_announced_length(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1000
            yield b"x" * 1000

    async with serving(tmp_path, max_body_bytes=5000) as http:
        problem(await http.post(URL, content=endless()), 413)
    assert sent <= 7000


async def test_multipart_takes_files_and_fields(http: httpx.AsyncClient) -> None:
    parts: list[tuple[str, Any]] = [
        ("script", ("mine.py", b"print(1)\r\n")),
        ("traceback", ("tb.txt", b"RuntimeError: x")),
        ("files", ("pkg/net.py", b"y = 2\n")),
        ("files", ("data.csv", b"1,2\n")),
    ]
    response = await http.post(URL, files=parts, data={"run": "never", "time_limit_s": "5"})
    assert response.status_code == 200, response.text
    assert response.json()["summary"] == "mine.py: print(1)\r\n"


@pytest.mark.parametrize("field", ["files", "script", "json"])
async def test_a_project_may_come_as_a_zip(http: httpx.AsyncClient, field: str) -> None:
    project = zipped({"p/train.py": b"import net\nnet.loss.backward()\n", "p/net.py": b"x = 1\n"})
    if field == "json":
        content = b64encode(project).decode()
        file = {"path": "p.zip", "content": content, "encoding": "base64"}
        response = await http.post(URL, json={"files": [file]})
    else:
        response = await http.post(URL, files={field: ("p.zip", project)})
    assert response.status_code == 200, response.text
    assert response.json()["summary"] == "train.py: import net\nnet.loss.backward()\n"


async def test_a_zip_is_refused_with_what_to_do(http: httpx.AsyncClient) -> None:
    many = zipped({f"{n}.py": b"" for n in range(80)})
    response = await http.post(URL, files={"files": ("p.zip", many)})
    assert "holds 80 files; the limit is 64 and the script: leave" in problem(response, 422)
    raw = await http.post(URL, content=many, headers={"content-type": "application/zip"})
    assert "a zip in its field `files`" in problem(raw, 415)
    other = await http.post(URL, files={"file": ("p.zip", many + b"\xff")})
    assert problem(other, 422) == "file is no field; did you mean files?"


async def test_a_change_may_come_as_two_zips(http: httpx.AsyncClient) -> None:
    sides = {
        side: (f"{side}.zip", zipped({"p/train.py": text, "p/net.py": b""}))
        for side, text in {"before": b"x = 1\n", "after": b"x = 2\n"}.items()
    }
    made = await http.post("/v1/verifications", files=sides)
    assert made.status_code == 200, made.text
    missing = await http.post("/v1/verifications", files={"after": sides["after"]})
    assert "before is empty" in problem(missing, 422)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"files": {"files": ("a.bin", b"\x7fELF\0\xff")}}, "files: a.bin is no Python script"),
        ({"files": {"files": ("a.py", b"\x7fELF\0\xff")}}, "a.py is not UTF-8 text: byte 0xff"),
        ({"data": {"script": "\x7fELF\0"}}, "script: line 1 holds a NUL byte: a binary file"),
    ],
)
async def test_a_binary_file_on_the_page_is_named(
    http: httpx.AsyncClient, sent: dict[str, Any], said: str
) -> None:
    page = await http.post("/", **sent)
    assert page.status_code == 422
    assert said in page.text


async def test_form_text_gets_plain_line_ends(http: httpx.AsyncClient) -> None:
    response = await http.post(URL, data={"script": "a = 1\r\nb = 2\r\n"})
    assert response.json()["summary"] == "train.py: a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\ns = '\xe9'\n", "# -*- coding: latin-1 -*-\ns = 'é'\n"),
    ],
)
async def test_uploaded_source_is_decoded_as_python_would(
    http: httpx.AsyncClient, content: bytes, text: str
) -> None:
    response = await http.post(URL, files={"script": ("a.py", content)})
    assert response.json()["summary"] == f"a.py: {text}"


async def test_undecodable_upload_names_the_byte(http: httpx.AsyncClient) -> None:
    response = await http.post(URL, files={"script": ("a.py", b"x = 1\ny = '\xff'\n")})
    assert "0xff in line 2" in problem(response, 422)


async def test_unknown_and_doubled_parts_are_refused(http: httpx.AsyncClient) -> None:
    response = await http.post(URL, files={"script": ("a.py", b"x"), "model": ("b", b"y")})
    assert "model" in problem(response, 422)
    twice = [("script", ("a.py", b"x")), ("script", ("b.py", b"y"))]
    assert "twice" in problem(await http.post(URL, files=twice), 422)


async def test_traceback_alone_and_notebook_are_accepted(http: httpx.AsyncClient) -> None:
    assert (await http.post(URL, json={"traceback": "RuntimeError: x"})).status_code == 200
    notebook = json.dumps({"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    response = await http.post(URL, json={"script": notebook, "filename": "a.ipynb"})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"script": "x", "args": ["x" * 1001]}, 422, "args"),
        ({"script": "x", "args": ["x"] * 65}, 422, "args"),
        ({"script": "x", "args": ["a\0b"]}, 422, "args: line 1 holds a NUL"),
        ({"script": "x", "args": "--lr 1"}, 422, "args"),
        ({"script": "x", "module": "pkg/train.py"}, 422, "use `package.train`"),
        ({"module": "pkg.train"}, 422, "send pkg/train.py"),
        ({"script": "x", "filename": "other.py", "module": "pkg.train"}, 422, "is not other.py"),
        ({"script": '{"cells": [], "nbformat": 4}', "module": "a"}, 422, "notebook"),
        (
            {"script": "x", "files": [{"path": "a.pt", "content": "é", "encoding": "base64"}]},
            422,
            "a.pt is not base64",
        ),
        (
            {
                "script": "x",
                "files": [{"path": "a.pt", "content": "AAAA" * 700_000, "encoding": "base64"}],
            },
            413,
            "a.pt is 2,100,000 bytes",
        ),
    ],
)
async def test_a_bad_launch_is_refused_with_a_reason(
    http: httpx.AsyncClient, body: Any, status: int, said: str
) -> None:
    assert said in problem(await http.post(URL, json=body), status)


async def test_a_module_among_the_files_is_the_script(http: httpx.AsyncClient) -> None:
    files = [{"path": "src/pkg/__main__.py", "content": "y = 1"}, {"path": "a.py", "content": ""}]
    response = await http.post(URL, json={"module": "pkg", "files": files})
    assert response.json()["summary"] == "src/pkg/__main__.py: y = 1"
    response = await http.post(URL, json={"module": "pkg.train", "script": "z = 1"})
    assert response.json()["summary"] == "pkg/train.py: z = 1"


async def test_uploads_are_text_or_base64() -> None:
    assert as_file("a.csv", b"\xef\xbb\xbf1,2\n").content == "1,2\n"
    kept = as_file("a.npy", b"\x93NUMPY\0")
    assert (kept.encoding, bytes_of(kept)) == ("base64", b"\x93NUMPY\0")
    with pytest.raises(ProblemError):
        as_file("a.py", b"x = '\xff'")


async def test_multipart_takes_arguments_and_data(http: httpx.AsyncClient) -> None:
    parts: list[tuple[str, Any]] = [
        ("script", ("mine.py", b"print(1)")),
        ("files", ("data/x.npz", b"PK\x03\x04\xff\0")),
        ("args", (None, "--lr")),
        ("args", (None, "0.1")),
        ("args", (None, "")),
    ]
    response = await http.post(URL, files=parts)
    assert response.status_code == 200, response.text
