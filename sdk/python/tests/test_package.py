"""What pip installs into an empty environment is whole: what the README begins with is type-checked and run there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import weir
import weir.testing

ROOT = Path(__file__).parents[1]
ADMIN_DSN = os.environ.get("WEIR_TEST_ADMIN_DSN", "")


def run(*command: str | Path, at: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=at, check=True)


def test_the_package_has_the_version_of_the_engine(client: weir.Client) -> None:
    assert f'\nversion = "{client.version()}"\n' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("form", ["sdist", "wheel"])
def test_a_distribution_is_installed_and_does_what_the_readme_begins_with(form: str, tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", form, "-d", tmp_path)
    [built] = tmp_path.glob("weirmq-*")
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{built}[binary]")

    [beginning, *_] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    with weir.testing.database(ADMIN_DSN) as dsn:
        assert "postgresql://localhost/shop" in beginning
        program = tmp_path / "shop.py"
        program.write_text(beginning.replace("postgresql://localhost/shop", dsn))
        run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, program, at=tmp_path)
        worker = subprocess.Popen([python, "-u", program], stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "packing ['tea']\n"
        worker.send_signal(signal.SIGTERM)
        assert worker.communicate() == ("", None)
        assert worker.returncode == 0
        with weir.connect(dsn) as client:
            [stats] = client.stats("orders")
            assert (stats.waiting, stats.claimed) == (0, 0)
