"""``manage.py weir_worker``: runs the tasks of a backend until SIGTERM."""

from __future__ import annotations

import signal
import socket
import threading
from argparse import ArgumentParser
from contextlib import ExitStack
from os import getpid
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections, connections
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from weir.django import tasks
from weir.django.backend import WeirBackend
from weir.errors import RetryAfter
from weir.generated.client import connect
from weir.handlers import Finished, RunsJobs
from weir.held import Context
from weir.types import Message
from weir.worker import Worker


class Command(BaseCommand):  # type: ignore[misc]
    """Runs tasks."""

    help = "Runs the tasks of a Weir backend until SIGTERM or SIGINT; a second one stops at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Name the options."""
        parser.add_argument("--backend", default="default", help="alias in TASKS")
        parser.add_argument("--queue", action="append", help="one of the backend's queues; all of them unless given")
        parser.add_argument("--concurrency", type=int, default=10, help="tasks at once, of each queue (10)")
        parser.add_argument("--lease", type=float, default=30, help="seconds until a dead worker's tasks run elsewhere")

    def handle(self, *_: Any, **options: Any) -> None:
        """Work."""
        backend = tasks.task_backends[options["backend"]]
        if not isinstance(backend, WeirBackend):
            raise CommandError(f"the task backend {options['backend']!r} is {type(backend).__name__}, not WeirBackend")
        names = options["queue"] or sorted(backend.queues)
        if unknown := set(names) - set(backend.queues):
            raise CommandError(f"the backend has no queue {sorted(unknown)[0]!r}: it has {sorted(backend.queues)}")
        stop = threading.Event()
        with ExitStack() as stack:
            client = stack.enter_context(connect(_dsn(backend.database)))
            workers = [
                Worker(
                    client,
                    backend.queue(name),
                    _Runner(backend, name),
                    concurrency=options["concurrency"],
                    lease=options["lease"],
                )
                for name in names
            ]

            def stopped(*_: Any) -> None:
                if stop.is_set():
                    for worker in workers:
                        threading.Thread(target=worker.stop, args=[True], daemon=True).start()
                stop.set()

            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, stopped)
            for worker in workers:
                stack.enter_context(worker)
            self.stdout.write(f"working on {', '.join(worker.queue for worker in workers)}")
            stop.wait()


class _Runner(RunsJobs):
    """The handler: runs one task."""

    def __init__(self, backend: WeirBackend, queue_name: str) -> None:
        self._backend = backend
        self._queue_name = queue_name
        self._worker_id = f"{socket.gethostname()}-{getpid()}"[:64]

    def __call__(self, message: Message[Any], context: Context) -> Finished:
        close_old_connections()
        try:
            return self._run(message)
        finally:
            close_old_connections()

    def _run(self, message: Message[Any]) -> Finished:
        task = tasks.find((message.headers or {}).get("kind", ""))
        args, kwargs = message.payload["args"], message.payload["kwargs"]
        started = timezone.now()
        result = tasks.TaskResult(
            task=task.using(queue_name=self._queue_name, backend=self._backend.alias),
            id=f"{self._queue_name}:{message.id}",
            status=tasks.TaskResultStatus.RUNNING,
            enqueued_at=message.enqueued_at,
            started_at=started,
            last_attempted_at=started,
            finished_at=None,
            args=args,
            kwargs=kwargs,
            backend=self._backend.alias,
            errors=[],
            worker_ids=[self._worker_id] * message.attempt,
        )
        tasks.task_started.send(type(self._backend), task_result=result)
        given = [tasks.TaskContext(task_result=result), *args] if task.takes_context else args
        try:
            value = task.call(*given, **kwargs)
            kept = {"args": args, "kwargs": kwargs, "return_value": value, "worker": self._worker_id}
            finished = Finished(kept | {"started_at": started.isoformat()})
        except Exception as error:
            reason = tasks.reason_of(error)
            result.errors.append(tasks.error_of(reason))
            self._tell(result, tasks.TaskResultStatus.FAILED)
            raise RetryAfter(None, reason) from error
        object.__setattr__(result, "_return_value", value)
        self._tell(result, tasks.TaskResultStatus.SUCCESSFUL)
        return finished

    def _tell(self, result: Any, status: Any) -> None:
        object.__setattr__(result, "status", status)
        object.__setattr__(result, "finished_at", timezone.now())
        tasks.task_finished.send(type(self._backend), task_result=result)


def _dsn(alias: str) -> str:
    """Return how Django connects to a database, as a DSN."""
    params: dict[str, Any] = connections[alias].get_connection_params()
    known: dict[str, Any] = {name: value for name, value in params.items() if isinstance(value, (str, int))}
    known.pop("prepare_threshold", None)  # the driver's own
    return make_conninfo(**known)
