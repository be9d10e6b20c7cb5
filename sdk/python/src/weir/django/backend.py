"""Enqueues tasks of Django as jobs, and tells how they stand."""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.utils import timezone

from weir.django import tasks
from weir.errors import Error
from weir.errors_generated import QUEUE_NOT_FOUND
from weir.generated.client import Client
from weir.types import JobStatus

_STATUS = {
    "waiting": tasks.TaskResultStatus.READY,
    "running": tasks.TaskResultStatus.RUNNING,
    "done": tasks.TaskResultStatus.SUCCESSFUL,
    "failed": tasks.TaskResultStatus.FAILED,
    "cancelled": tasks.TaskResultStatus.FAILED,
}
_PRIORITIES = 201  # of Django: -100 to 100


class WeirBackend(tasks.BaseTaskBackend):  # type: ignore[misc]
    """A backend whose queues are queues of Weir."""

    supports_defer = True
    supports_async_task = True
    supports_get_result = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        """Take what the setting ``TASKS`` has under the alias."""
        super().__init__(alias, params)
        self.database: str = self.options.get("database", "default")
        self._prefix: str = self.options.get("prefix", "")
        self._levels: int = self.options.get("priorities", 1)
        self.supports_priority = self._levels > 1
        self.supports_get_result = self.options.get("results", True)

    def client(self) -> Client:
        """Return a client on Django's own connection of this thread: its calls are part of ``atomic()``."""
        return Client.on(connections[self.database])

    def queue(self, name: str) -> str:
        """Return the name in Weir of one of the backend's queues."""
        return f"{self._prefix}{name}"

    def make_queues(self) -> None:
        """Create the queues that are not there."""
        client = self.client()
        for name in sorted({self.queue(name) for name in self.queues}):
            made = client.create_queue(name, priorities=self._levels, **self.options.get("queue_settings", {}))
            if made and (group := self.options.get("group_settings")):
                client.configure_group(name, "default", **group)

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> Any:
        """Enqueue a task in the transaction that is open, if there is one."""
        self.validate_task(task)
        result = tasks.TaskResult(
            task=task,
            id="",
            status=tasks.TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            last_attempted_at=None,
            finished_at=None,
            args=args,
            kwargs=kwargs,
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
        job = self.client().enqueue(
            self.queue(task.queue_name),
            task.module_path,
            {"args": result.args, "kwargs": result.kwargs},
            run_at=task.run_after,
            priority=(task.priority + 100) * self._levels // _PRIORITIES if self._levels > 1 else None,
            tracked=self.supports_get_result,
        )
        object.__setattr__(result, "id", f"{task.queue_name}:{job}")
        tasks.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """Return how a task stands. Of one that has not ended, the queue is searched for its arguments."""
        if not self.supports_get_result:
            return super().get_result(result_id)
        name, _, number = result_id.rpartition(":")
        if not (number.isascii() and number.isdigit()):
            raise tasks.TaskResultDoesNotExist(result_id)
        try:
            status = self.client().job(self.queue(name), int(number))
        except Error as error:
            if error.code == QUEUE_NOT_FOUND:
                raise tasks.TaskResultDoesNotExist(result_id) from error
            raise
        if status is None:
            raise tasks.TaskResultDoesNotExist(result_id)
        return self._result(name, result_id, status)

    def _result(self, name: str, result_id: str, status: JobStatus) -> Any:
        ended = status.result if status.state == "done" and status.result else {}
        given = ended or self._arguments(name, status.id)
        result = tasks.TaskResult(
            task=tasks.find(status.kind).using(queue_name=name, backend=self.alias),
            id=result_id,
            status=_STATUS[status.state],
            enqueued_at=status.enqueued_at,
            started_at=tasks.time_of(ended.get("started_at")),
            last_attempted_at=tasks.time_of(ended.get("started_at")),
            finished_at=status.finished_at,
            args=given.get("args", []),
            kwargs=given.get("kwargs", {}),
            backend=self.alias,
            errors=[tasks.error_of(status.error)] if status.error else [],
            worker_ids=[ended.get("worker", "")] * status.attempt,
        )
        object.__setattr__(result, "_return_value", ended.get("return_value"))
        return result

    def _arguments(self, name: str, job: int) -> dict[str, Any]:
        message = self.client().get(self.queue(name), job)
        return {} if message is None else dict(message.payload)


def backends() -> list[WeirBackend]:
    """Return the backends of the project that are Weir's."""
    found = (tasks.task_backends[alias] for alias in tasks.task_backends.settings)
    return [backend for backend in found if isinstance(backend, WeirBackend)]
