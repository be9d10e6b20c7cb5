"""What the README shows runs as it stands there."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

import weir
import weir.testing

README = Path(__file__).parent.parent / "README.md"
PROGRAMS = [text for text in re.findall(r"```python\n(.*?)```", README.read_text(), re.S) if "create_queue" in text]


@pytest.mark.parametrize("text", PROGRAMS, ids=lambda text: re.findall(r"import weir|def (\w+)", text)[-1])
def test_a_program_of_the_readme_does_its_work(
    text: str, dsn: str, client: weir.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs it with a queue of the test's own; its worker stops when there is nothing left to do now."""
    queue = f"readme-{id(text)}"
    ended = threading.Event()

    def run(worker: weir.Worker) -> None:
        weir.testing.run_until_empty(worker)
        ended.set()

    monkeypatch.setattr(weir.Worker, "run", run)
    text = re.sub(r'"(orders|mail)"', f'"{queue}"', text.replace("postgresql://localhost/shop", dsn))
    space: dict[str, Any] = {"__name__": "readme"}
    try:
        exec(compile(text, "README.md", "exec", dont_inherit=True), space)
        assert ended.is_set()
        if "welcome" in space:
            status = space["welcome"].status(space["number"])
            assert (status.state, status.result) == ("done", "sent to Ann")
        assert [s.waiting for s in client.stats(queue)] == [0]
    finally:
        client.drop_queue(queue)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) == 2
