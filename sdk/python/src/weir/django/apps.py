"""The application: has ``migrate`` make the queues."""

from __future__ import annotations

import logging
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from weir.errors import NOT_SUPPORTED, Error

log = logging.getLogger("weir")


class WeirConfig(AppConfig):  # type: ignore[misc]
    """The application ``weir.django``."""

    name = "weir.django"
    label = "weir_django"
    verbose_name = "Weir"

    def ready(self) -> None:
        """Listen for ``migrate``."""
        post_migrate.connect(_make_queues, sender=self)


def _make_queues(using: str, **_: Any) -> None:
    from weir.django.backend import backends

    for backend in backends():
        if backend.database == using:
            try:
                backend.make_queues()
            except Error as error:
                if error.code != NOT_SUPPORTED:
                    raise
                log.warning("database %r has no Weir in it, so no queues were made: %s", using, error)
