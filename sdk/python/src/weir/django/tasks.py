"""What Django 6.0 and the package django-tasks have in common, and tasks between them and jobs."""

from __future__ import annotations

import importlib
import traceback
from datetime import datetime
from typing import Any

from django.utils.module_loading import import_string

try:
    _root = importlib.import_module("django.tasks")
except ImportError:  # before Django 6.0
    _root = importlib.import_module("django_tasks")


def _part(name: str) -> Any:
    return importlib.import_module(f"{_root.__name__}.{name}")


task_backends: Any = _root.task_backends
BaseTaskBackend: Any = _part("backends.base").BaseTaskBackend
Task: Any = _part("base").Task
TaskContext: Any = _part("base").TaskContext
TaskError: Any = _part("base").TaskError
TaskResult: Any = _part("base").TaskResult
TaskResultStatus: Any = _part("base").TaskResultStatus
TaskResultDoesNotExist: Any = _part("exceptions").TaskResultDoesNotExist
task_enqueued: Any = _part("signals").task_enqueued
task_finished: Any = _part("signals").task_finished
task_started: Any = _part("signals").task_started

# What a dead letter may tell: the end of a traceback, where the failure is.
_TRACEBACK_MAX = 4000


def find(path: str) -> Any:
    """Return the task at a path; LookupError when there is none."""
    try:
        task = import_string(path)
    except ImportError as error:
        raise LookupError(f"there is no task {path}") from error
    if not isinstance(task, Task):
        raise LookupError(f"{path} is no task")
    return task


def reason_of(error: BaseException) -> str:
    """Return a failure as the reason of a job: the path of its class, and the traceback."""
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    return f"{kind}\n{''.join(traceback.format_exception(error))[-_TRACEBACK_MAX:]}"


def error_of(reason: str) -> Any:
    """Return what ``reason_of`` made; a reason that is somebody else's is told as a RuntimeError."""
    kind, _, text = reason.partition("\n")
    if not text:
        kind, text = "builtins.RuntimeError", reason
    return TaskError(exception_class_path=kind, traceback=text)


def time_of(text: str | None) -> datetime | None:
    """Return a time that a worker has noted."""
    return None if text is None else datetime.fromisoformat(text)
