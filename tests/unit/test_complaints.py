"""Reports of wrong answers: kept with a result, read by the operator, deleted with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.command.complaints import print_reports
from app.settings import Settings
from app.store.complaints import LONGEST, MOST
from tests.serving import serving

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def test_a_report_is_kept_with_its_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving(tmp_path) as http:
        made = (await http.post("/v1/diagnoses", json={"script": "x = 1\n"})).json()
        address = f"/d/{made['id']}/wrong"
        reported = await http.post(address, content="text=It+trains+nothing.", headers=FORM)
        assert (reported.status_code, reported.headers["location"]) == (
            303,
            f"/d/{made['id']}?reported=true#wrong",
        )
        assert "Thank you." in (await http.get(reported.headers["location"])).text
        assert "gradmend_wrong_answers_total 1.0" in (await http.get("/metrics")).text
        settings = Settings(var_dir=tmp_path, public_url="https://mend.example")
        await print_reports(settings)
        printed = capsys.readouterr().out
        assert f"https://mend.example/d/{made['id']}\n    It trains nothing.\n" in printed
        await http.delete(f"/v1/diagnoses/{made['id']}")
        await print_reports(settings)
        assert capsys.readouterr().out.endswith("0 reported.\n")


async def test_reports_are_bounded(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        made = (await http.post("/v1/diagnoses", json={"script": "x = 1\n"})).json()
        address = f"/d/{made['id']}/wrong"
        long = await http.post(address, content=f"text={'x' * (LONGEST + 1)}", headers=FORM)
        assert long.status_code == 422
        for _ in range(MOST):
            assert (await http.post(address, content="text=", headers=FORM)).status_code == 303
        assert (await http.post(address, content="text=", headers=FORM)).status_code == 429
        assert (
            await http.post("/d/nothing/wrong", content="text=", headers=FORM)
        ).status_code == 404
