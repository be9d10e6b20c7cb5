"""Celery's own worker, as its users start it, on Weir."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import celery
import kombu
import psycopg
import pytest
from celery.exceptions import ImproperlyConfigured

import weir
from weir.celery import queue_name

PATIENCE = 120.0

APP = '''
import os, time
import psycopg
from celery import Celery
dsn, name, table = (os.environ[v] for v in ("WEIR_TEST_DSN", "WEIR_TEST_QUEUE", "WEIR_TEST_TABLE"))
app = Celery("app", broker_url="weir://" + dsn.partition("://")[2])
app.conf.update(
    broker_transport="weir.celery:Transport",
    broker_transport_options={"lease": int(os.environ.get("LEASE", "15"))}, task_default_queue=name,
    worker_enable_remote_control="REMOTE" in os.environ, task_acks_late=True,
    result_backend=os.environ.get("RESULTS"), task_ignore_result="RESULTS" not in os.environ, task_track_started=True,
    database_table_schemas={"task": name, "group": name},
    worker_prefetch_multiplier=4,
)

def note(text):
    with psycopg.connect(dsn) as conn:
        conn.execute(f'insert into "{table}" values (%s)', [text])

@app.task
def add(a, b):
    note(f"add {a + b}")

@app.task
def double(n):
    return 2 * n

@app.task
def total(numbers):
    return sum(numbers)

@app.task
def fail():
    raise LookupError("no such order")

@app.task(bind=True, max_retries=3)
def fragile(self):
    note(f"fragile {self.request.retries}")
    if self.request.retries < 2:
        raise self.retry(countdown=0.1)

@app.task
def hold(n):
    note(f"hold {n}")
    with psycopg.connect(dsn, autocommit=True) as conn:
        while not conn.execute(f"""select from "{table}" where note = 'go' """).fetchall():
            time.sleep(0.05)

@app.task
def slow():
    note("slow")
    time.sleep(3600 if os.environ.get("FIRST") else 20)
    note("slow done")
'''


class Site:
    """A Celery application with a queue and a table of its own."""

    def __init__(self, folder: Path, dsn: str, client: weir.Client) -> None:
        self.client = client
        self.folder = folder
        self.name = f"celery-{uuid.uuid4().hex[:8]}"
        self.env = os.environ | {"WEIR_TEST_QUEUE": self.name, "WEIR_TEST_TABLE": self.name}
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.conn.execute(f'create table "{self.name}" (note text)')
        self.workers: list[subprocess.Popen[bytes]] = []
        self.log = folder / "log"
        (folder / "app.py").write_text(APP)

    def worker(self, **env: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "-A", "app", "worker", "-c", "2", "-l", "warning"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=self.env | env, start_new_session=True, stdout=log)
        self.workers.append(process)
        return process

    def send(self, program: str) -> None:
        subprocess.run(
            [sys.executable, "-c", f"from app import *\n{program}"], cwd=self.folder, env=self.env, check=True
        )

    def ask(self, program: str) -> Any:
        """Return what a program prints as JSON."""
        command = [sys.executable, "-c", f"import json\nfrom app import *\n{program}"]
        asked = subprocess.run(
            command, cwd=self.folder, env=self.env, check=True, stdout=subprocess.PIPE, timeout=PATIENCE
        )
        return json.loads(asked.stdout)

    def notes(self) -> list[str]:
        return sorted(row[0] for row in self.conn.execute(f'select note from "{self.name}"'))

    def until(self, true: Callable[[], Any]) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, self.notes()
            time.sleep(0.05)

    def stats(self) -> weir.GroupStats:
        return self.client.stats(self.name)[0]

    def end(self) -> None:
        for process in self.workers:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.conn.execute(f'drop table "{self.name}"')
        self.conn.close()
        self.client.drop_queue(self.name)


@pytest.fixture
def site(tmp_path: Path, dsn: str, client: weir.Client) -> Iterator[Site]:
    made = Site(tmp_path, dsn, client)
    yield made
    made.end()


ASK = """
inspect = app.control.inspect(timeout=5, limit=1)
while not (pongs := inspect.ping()):
    pass
[(worker, pong)] = pongs.items()
[queue] = inspect.active_queues()[worker]
files = len(os.listdir("/proc/self/fd"))
for _ in range(5):
    assert inspect.ping()
assert len(os.listdir("/proc/self/fd")) <= files
print(json.dumps([pong, queue["name"]]))
"""


def test_a_worker_answers_what_is_broadcast_and_leaves_no_queues(site: Site) -> None:
    worker = site.worker(REMOTE="1")
    assert site.ask(ASK) == [{"ok": "pong"}, site.name]
    site.send("add.delay(1, 1)")
    site.until(lambda: site.notes() == ["add 2"])
    os.kill(worker.pid, signal.SIGTERM)
    worker.wait(PATIENCE)
    assert [q.queue for q in site.client.list_queues() if "pidbox" in q.queue] == []


def test_tasks_retries_and_countdowns_run_once_and_a_stopped_worker_leaves_nothing(site: Site) -> None:
    site.send("add.apply_async((1, 1), countdown=86400)")
    assert site.stats().delayed == 1, "the countdown is Weir's delay"
    site.client.purge(site.name)
    site.send("for n in range(20): add.delay(n, n)\nfragile.delay()\nadd.apply_async((100, 1), countdown=1)")
    worker = site.worker()
    expected = sorted([f"add {2 * n}" for n in range(20)] + ["add 101"] + [f"fragile {n}" for n in range(3)])
    site.until(lambda: site.notes() == expected)
    site.until(lambda: (s := site.stats()).waiting == s.claimed == s.delayed == 0)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(PATIENCE) == 0
    assert site.notes() == expected
    assert site.stats().dead == 0


def test_a_task_outlives_its_lease_once_and_its_killed_worker_by_running_again(site: Site) -> None:
    site.send("slow.delay()")
    first = site.worker(FIRST="1")
    site.until(lambda: site.notes() == ["slow"])
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    site.worker()
    site.worker()  # it gets nothing: the lease of 15 s is renewed for the 20 s that the task takes
    site.until(lambda: "slow done" in site.notes())
    site.until(lambda: site.stats().claimed == 0)
    assert site.notes() == ["slow", "slow", "slow done"]


def test_what_a_worker_had_only_fetched_is_elsewhere_when_it_stops_and_not_counted(site: Site) -> None:
    site.send("for n in range(8): hold.delay(n)")
    first = site.worker(LEASE="86400")
    site.until(lambda: site.stats().claimed == 8 and len(site.notes()) == 2)
    begun = site.notes()
    os.kill(first.pid, signal.SIGTERM)
    site.until(lambda: b"Warm shutdown" in site.log.read_bytes())
    second = site.worker()
    site.conn.execute(f'insert into "{site.name}" values (%s)', ["go"])
    assert first.wait(PATIENCE) == 0
    site.until(lambda: (s := site.stats()).waiting == s.claimed == s.delayed == 0)
    assert site.notes() == ["go", *(f"hold {n}" for n in range(8))], begun
    assert second.poll() is None


RESULTS = """
from celery import chord, group
sent = [double.delay(21), fail.delay(), fragile.delay(), hold.delay(1)]
value, started = sent[0].get(timeout=100), sent[3]
try:
    sent[1].get(timeout=100)
except LookupError as error:
    told = str(error)
several = group(double.s(n) for n in range(5))()
several.save()
summed = chord([double.s(n) for n in range(5)])(total.s()).get(timeout=100)
while started.state != "STARTED":
    pass
out = [value, told, several.get(timeout=100), summed, sent[2].get(timeout=100), several.id, *(r.id for r in sent)]
print(json.dumps(out))
"""

LATER = '''
from datetime import timedelta
from celery.result import AsyncResult, GroupResult
several, done, failed, _, held = IDS
group = GroupResult.restore(several, app=app)
done, failed, held, unknown = (AsyncResult(i, app=app) for i in (done, failed, held, "unknown"))
out = [group.get(), done.state, done.get(), failed.state, failed.get(propagate=False).args[0], failed.traceback]
out += [held.state, unknown.state]
app.backend.expires = timedelta(hours=1)
app.backend.cleanup()
out.append(AsyncResult(done.id, app=app).state)
with psycopg.connect(dsn) as conn:
    conn.execute(f"""update "{name}".celery_taskmeta set date_done = date_done - '61 minutes'::interval""")
app.backend.cleanup()
out.append(AsyncResult(done.id, app=app).state)
print(json.dumps(out))
'''


@pytest.mark.parametrize("url", ["weir://", "weir://{rest}"])
def test_results_are_kept_for_whoever_asks_by_id_until_they_expire(site: Site, dsn: str, url: str) -> None:
    site.env["RESULTS"] = url.format(rest=dsn.partition("://")[2])
    site.conn.execute(f'create schema "{site.name}"')
    worker = site.worker()
    value, told, several, summed, nothing, *ids = site.ask(RESULTS)
    assert (value, told, several, summed, nothing) == (42, "no such order", [0, 2, 4, 6, 8], 20, None)
    found = site.ask(LATER.replace("IDS", repr(ids)))
    assert found[:5] == [[0, 2, 4, 6, 8], "SUCCESS", 42, "FAILURE", "no such order"]
    assert 'raise LookupError("no such order")' in found[5]
    assert found[6:] == ["STARTED", "PENDING", "SUCCESS", "PENDING"]
    site.conn.execute(f'insert into "{site.name}" values (%s)', ["go"])
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(PATIENCE) == 0
    site.conn.execute(f'drop schema "{site.name}" cascade')


def test_results_without_a_database_are_refused_and_passwords_are_not_shown() -> None:
    app = celery.Celery(broker_url="memory://", result_backend="weir://")
    with pytest.raises(ImproperlyConfigured, match="name a host"):
        assert app.backend
    app = celery.Celery(result_backend="weir://me:secret@nowhere/db")
    app.conf.database_create_tables_at_setup = False
    assert app.backend.as_uri() == "weir://me:**@nowhere/db"
    assert app.backend.as_uri(include_password=True) == "weir://me:secret@nowhere/db"


def test_kombus_own_producers_and_consumers_settle_as_they_say(dsn: str, client: weir.Client, queue: str) -> None:
    with kombu.Connection(transport="weir", transport_options={"dsn": dsn}) as conn, conn.SimpleQueue(queue) as simple:
        for text in ("done", "back", "bad"):
            simple.put({"text": text})
        simple.get(timeout=PATIENCE).ack()
        simple.get(timeout=PATIENCE).requeue()
        simple.get(timeout=PATIENCE).reject()
        again = simple.get(timeout=PATIENCE)
        assert (again.payload, again.delivery_info["redelivered"]) == ({"text": "back"}, True)
        assert conn.default_channel.basic_get(queue) is None
    [left] = client.receive(queue, wait=PATIENCE)  # the connection gave back what was not settled
    assert left.attempt == 2, "which is not counted as a delivery"
    assert [d.reason for d in client.dead_letters(queue)] == ["rejected by the consumer"]


def test_names_that_weir_does_not_know_become_names_that_it_does() -> None:
    assert queue_name("celery") == "celery"
    odd = ["Celery", "celery@host.celery.pidbox", "x" * 60, "x" * 61]
    names = {queue_name(name) for name in odd}
    assert len(names) == len(odd)
    assert all(len(name) <= 47 for name in names)
