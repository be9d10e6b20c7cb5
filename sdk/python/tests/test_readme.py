"""What the README shows runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import weir
import weir.testing

README = (Path(__file__).parent.parent / "README.md").read_text()
# The blocks by the heading above them.
BLOCKS: dict[str, str] = {
    re.findall(r"^#+ (.*)$", README[: found.start()], re.M)[-1]: found[1]
    for found in re.finditer(r"```python\n(.*?)```", README, re.S)
}


@dataclass
class Order:
    id: int
    items: list[str]


@pytest.fixture
def shop() -> Iterator[str]:
    """The database of a shop, with the engine and what the README takes for granted."""
    with weir.testing.database(os.environ["WEIR_TEST_ADMIN_DSN"]) as dsn:
        with psycopg.connect(dsn) as conn, weir.connect(dsn) as client:
            conn.execute("create table orders (id int)")
            conn.execute("create table packed (id int)")
            for queue in ("orders", "shipping"):
                client.create_queue(queue)
        yield dsn


def run(block: str, **given: Any) -> dict[str, Any]:
    space = {"__name__": "readme", "weir": weir, **given}
    exec(compile(BLOCKS[block], "README.md", "exec", dont_inherit=True), space)
    return space


@pytest.mark.parametrize("block", ["Weir for Python", "Jobs"])
def test_a_program_of_the_readme_does_its_work(
    block: str, dsn: str, client: weir.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs it with a queue of the test's own; its worker stops when there is nothing left to do now."""
    queue = f"readme-{id(block)}"
    ended = threading.Event()

    def work(worker: weir.Worker) -> None:
        weir.testing.run_until_empty(worker, timeout=300)
        ended.set()

    monkeypatch.setattr(weir.Worker, "run", work)
    text = re.sub(r'"(orders|mail)"', f'"{queue}"', BLOCKS[block].replace("postgresql://localhost/shop", dsn))
    monkeypatch.setitem(BLOCKS, block, text)
    try:
        space = run(block)
        assert ended.is_set()
        if "welcome" in space:
            status = space["welcome"].status(space["number"])
            assert (status.state, status.result) == ("done", "sent to Ann")
        assert [s.waiting for s in client.stats(queue)] == [0]
    finally:
        client.drop_queue(queue)


def test_a_row_and_a_message_of_the_readme_commit_together(shop: str) -> None:
    with weir.connect(shop) as client, psycopg.connect(shop) as conn:
        run("In your own transaction", client=client, dsn=shop)
        assert conn.execute("select id from orders").fetchall() == [(1,)]
        assert [m.payload for m in weir.testing.sent(client, "orders")] == [{"id": 1}]


def test_messages_of_the_readme_are_acked_and_given_back_one_by_one(shop: str) -> None:
    with weir.connect(shop) as client:
        good, bad = client.send_batch("orders", [{"id": 1}, {"id": 0}])
        run("Receiving by hand", client=client)
        assert [client.get("orders", sent).states["default"] for sent in (good, bad)] == ["done", "delayed"]


def test_what_many_of_the_readme_send_at_once_arrives(shop: str) -> None:
    with weir.connect(shop) as client:
        run("Many who send at once", client=client)
        payloads = [m.payload for m in weir.testing.sent(client, "orders")]
        assert sorted(payload["id"] for payload in payloads) == list(range(100))


def test_the_program_with_asyncio_works_until_it_is_stopped(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[Any] = []
    text = BLOCKS["With asyncio"].replace("call_later(3600, worker.stop)", "call_soon(stops.append, worker.stop)")
    monkeypatch.setitem(BLOCKS, "With asyncio", text.replace('print("packing", message.payload)', "stops.pop()()"))
    run("With asyncio", dsn=shop, stops=stops)
    assert stops == []
    with weir.connect(shop) as client:
        assert weir.testing.sent(client, "orders") == []


def test_the_chain_of_the_readme_begins(shop: str) -> None:
    with weir.connect(shop) as client:
        assert run("A chain", client=client)["states"] == ["enqueued", "planned"]


def test_the_exactly_once_handler_of_the_readme_packs_and_sends_onward(
    shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weir.Worker, "run", lambda worker: weir.testing.run_until_empty(worker, timeout=300))
    with weir.connect(shop) as client, psycopg.connect(shop) as conn:
        client.send("orders", Order(7, ["tea"]))
        run("Exactly once", client=client, Order=Order)
        assert conn.execute("select id from packed").fetchall() == [(7,)]
        assert weir.testing.sent(client, "shipping", Order)[0].payload == Order(7, ["tea"])
        assert [(s.waiting, s.claimed) for s in client.stats("orders")] == [(0, 0)]


def test_the_client_of_the_readme_with_traces_sends(shop: str) -> None:
    with run("Traces", dsn=shop)["client"] as client:
        client.send("orders", {"id": 1})
        assert [m.payload for m in weir.testing.sent(client, "orders")] == [{"id": 1}]


def test_the_test_of_the_readme_passes_when_an_order_is_announced_and_fails_when_not(shop: str) -> None:
    def place_order(client: weir.Client, queue: str) -> None:
        client.send(queue, Order(1, ["tea"]))

    with weir.connect(shop) as client:
        run("Tests", Order=Order, place_order=place_order)["test_an_order_is_announced"](client, "orders")
        silent = run("Tests", Order=Order, place_order=lambda client, queue: None)
        with pytest.raises(AssertionError):
            silent["test_an_order_is_announced"](client, "shipping")


def test_the_celery_application_of_the_readme_sends_to_its_queue(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = "weir://user:password@localhost:5432/shop?"
    assert given in BLOCKS["Celery"]
    own = "weir://{user}:{password}@{host}:{port}/{dbname}?".format_map(conninfo_to_dict(shop))
    monkeypatch.setitem(BLOCKS, "Celery", BLOCKS["Celery"].replace(given, own))
    app = run("Celery")["app"]
    assert type(app.backend).__module__ == "weir.celery_results"
    app.send_task("pack", [1])
    app.close()
    with weir.connect(shop) as client:
        assert {s.queue: s.waiting for s in client.stats()} == {"celery": 1, "orders": 0, "shipping": 0}


def test_the_settings_of_the_readme_have_django_make_the_queues(shop: str, tmp_path: Path) -> None:
    at = conninfo_to_dict(shop)
    names = {"NAME": "dbname", "HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    database = {"ENGINE": "django.db.backends.postgresql"} | {name: at[part] for name, part in names.items()}
    databases = {"default": database}
    given = f"SECRET_KEY = 'test'\nDATABASES = {databases!r}\n"
    (tmp_path / "settings.py").write_text(BLOCKS["Django"] + "INSTALLED_APPS.remove(...)\n" + given)
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "django", "migrate", "-v", "0"], env=env, check=True)
    with weir.connect(shop) as client:
        assert sorted(q.queue for q in client.list_queues()) == ["default", "mail", "orders", "shipping"]


def test_these_are_all_blocks_of_the_readme() -> None:
    tested = [
        "Weir for Python",
        "In your own transaction",
        "Receiving by hand",
        "Many who send at once",
        "With asyncio",
        "Exactly once",
        "Jobs",
        "A chain",
        "Traces",
        "Tests",
        "Celery",
        "Django",
    ]
    assert list(BLOCKS) == tested
    assert README.count("```python") == len(tested)
