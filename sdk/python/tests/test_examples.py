"""The examples run."""

from __future__ import annotations

import runpy
import time
from pathlib import Path

import fastapi.testclient
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PATIENCE = 60.0


def test_the_fastapi_example_packs_what_is_ordered(dsn: str, queue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIR_DSN", dsn)
    monkeypatch.setenv("QUEUE", queue)
    app = runpy.run_path(str(EXAMPLES / "fastapi_app.py"))["app"]
    with fastapi.testclient.TestClient(app) as web:
        for number in (1, 2):
            assert web.post("/orders", json={"id": number, "items": ["tea"]}).status_code == 202
        end = time.monotonic() + PATIENCE
        while sorted(web.get("/packed").json()) != [1, 2]:
            assert time.monotonic() < end
            time.sleep(0.02)
