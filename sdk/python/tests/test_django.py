"""Tasks of Django in a project of its own, as its users run it."""

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

import pytest
from psycopg.conninfo import conninfo_to_dict

import weir

PATIENCE = 120.0

SETTINGS = """
import json, os
SECRET_KEY, USE_TZ = "test", True
INSTALLED_APPS = ["weir.django"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", **json.loads(os.environ["TEST_DATABASE"])}}
TASKS = {"default": {
    "BACKEND": "weir.django.backend.WeirBackend", "QUEUES": ["default", "mail"],
    "OPTIONS": {"prefix": os.environ["TEST_PREFIX"], "priorities": 3, "queue_settings": {"ttl": 86400},
                "group_settings": {"max_attempts": 2, "backoff_min": 0, "backoff_max": 0}},
}}
"""
MANAGE = """
import os, sys
from django.core.management import execute_from_command_line
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
execute_from_command_line(sys.argv)
"""
TASKS = """
from django_tasks import task

@task
def add(a, b):
    return a + b

@task(queue_name="mail", priority=100, takes_context=True)
async def mail(context, to):
    return [to, context.attempt]

@task
def fail():
    raise KeyError("missing")
"""
ENQUEUE = """
from datetime import timedelta
from django.db import transaction
from django.utils import timezone
from tasks import add, fail, mail
try:
    with transaction.atomic():
        add.enqueue(0, 0)
        raise ValueError
except ValueError:
    pass
with transaction.atomic():
    done = add.enqueue(1, b=2)
    sent = mail.enqueue("you")
later = add.using(run_after=timezone.now() + timedelta(hours=1)).enqueue(3, 4)
failed = fail.enqueue()
print(done.id, sent.id, later.id, failed.id)
"""
ASK = """
import json, sys
from django_tasks import default_task_backend
from django_tasks.exceptions import TaskResultDoesNotExist
found = []
for id in {ids!r}:
    r = default_task_backend.get_result(id)
    value = r.return_value if r.status == "SUCCESSFUL" else None
    errors = [[e.exception_class.__name__, "missing" in e.traceback] for e in r.errors]
    found.append([r.task.name, r.status, r.args, r.kwargs, value, errors, r.attempts])
for id in ("default:0", "nothing:1", "odd"):
    try:
        default_task_backend.get_result(id)
    except TaskResultDoesNotExist:
        found.append("not there")
print(json.dumps(found))
"""


class Project:
    """A project of Django with queues of its own."""

    def __init__(self, folder: Path, dsn: str) -> None:
        at = conninfo_to_dict(dsn)
        names = {"NAME": "dbname", "HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
        self.prefix = f"dj-{uuid.uuid4().hex[:8]}-"
        self.env = os.environ | {
            "TEST_DATABASE": json.dumps({name: at[part] for name, part in names.items()}),
            "TEST_PREFIX": self.prefix,
        }
        self.folder = folder
        for name, text in (("settings", SETTINGS), ("manage", MANAGE), ("tasks", TASKS)):
            (folder / f"{name}.py").write_text(text)

    def manage(self, *args: str) -> str:
        command = [sys.executable, "manage.py", *args]
        done = subprocess.run(command, cwd=self.folder, env=self.env, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    def worker(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", "weir_worker", "--concurrency", "2"]
        return subprocess.Popen(command, cwd=self.folder, env=self.env)


@pytest.fixture
def project(tmp_path: Path, dsn: str, client: weir.Client) -> Iterator[Project]:
    made = Project(tmp_path, dsn)
    yield made
    for queue in client.list_queues():
        if queue.queue.startswith(made.prefix):
            client.drop_queue(queue.queue)


def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_tasks_are_enqueued_with_the_transaction_run_by_the_worker_and_can_be_asked_for(
    project: Project, client: weir.Client
) -> None:
    project.manage("migrate")
    ids = project.manage("shell", "-v", "0", "-c", ENQUEUE).split()
    waiting = {s.queue.removeprefix(project.prefix): (s.waiting, s.delayed) for s in client.stats()}
    assert (waiting["default"], waiting["mail"]) == ((2, 1), (1, 0)), "what was rolled back is not there"
    worker = project.worker()
    try:
        until(lambda: client.dead_letters(f"{project.prefix}default"))
        until(lambda: all(s.waiting + s.claimed == 0 for s in client.stats() if s.queue.startswith(project.prefix)))
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    finally:
        worker.kill()
        worker.wait()
    assert json.loads(project.manage("shell", "-v", "0", "-c", ASK.format(ids=ids))) == [
        ["add", "SUCCESSFUL", [1], {"b": 2}, 3, [], 1],
        ["mail", "SUCCESSFUL", ["you"], {}, ["you", 1], [], 1],
        ["add", "READY", [3, 4], {}, None, [], 0],
        ["fail", "FAILED", [], {}, None, [["KeyError", True]], 2],
        "not there",
        "not there",
        "not there",
    ]
