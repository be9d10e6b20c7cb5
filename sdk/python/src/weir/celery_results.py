"""A result backend of Celery: what became of tasks is kept in the database that carries them.

    app = Celery(broker_url="weir://user:password@host:5432/database", result_backend="weir://")

``weir://`` means the database of the broker, of its URL or of ``broker_transport_options``; a URL of its own names
another. It is Celery's own backend for databases over psycopg, so that results, states, tracebacks, groups, chords and
``result_expires`` are as it has them: in its tables ``celery_taskmeta`` and ``celery_tasksetmeta``, which the first use
makes, or which ``database_table_schemas`` puts elsewhere. Celery beat removes what has expired, once a day.

Why not a tracked job of Weir: its result is asked for by the job's number and told by who holds its claim. A task of
Celery is asked for by an id that its sender made up, of whatever queue, has states before and after, and by default is
acknowledged before it runs. What has a result by job are ``weir.Jobs``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import psycopg
from celery.backends.database import DatabaseBackend
from celery.exceptions import ImproperlyConfigured
from kombu.utils.url import maybe_sanitize_url

from weir.celery import Transport, dsn_of

# Names the dialect only: how to connect is told by the creator of connections.
_DIALECT = "postgresql+psycopg://"


def _dsn(url: str, app: Any) -> str:
    """Return the DSN of the database of results."""
    if url.partition("://")[2]:
        return dsn_of(url)
    dsn: str | None = app.conf.broker_transport_options.get("dsn")
    connection = app.connection_for_write()
    if dsn is None and not issubclass(connection.get_transport_cls(), Transport):
        raise ImproperlyConfigured("result_backend is weir://, and the broker is not Weir: name a host and a database")
    return dsn or dsn_of(connection.hostname)


class Backend(DatabaseBackend):  # type: ignore[misc]
    """The result backend ``weir://``."""

    def __init__(self, *, app: Any, url: str = "weir://", **kwargs: Any) -> None:
        """Take the URL of a database; one without a host means the broker's."""
        self._uri = url
        # Behind a pooler, a statement that one session prepared is not there in the next.
        creator = partial(psycopg.connect, _dsn(url, app), prepare_threshold=None)
        super().__init__(dburi=_DIALECT, engine_options={"creator": creator}, app=app, **kwargs)

    def as_uri(self, include_password: bool = False) -> str:
        """Return the URL, without its password unless that is asked for."""
        return self._uri if include_password else str(maybe_sanitize_url(self._uri))

    def __reduce__(self, args: tuple[()] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Tell pickle how to make it again."""
        return super(DatabaseBackend, self).__reduce__(args, {"url": self._uri, "expires": self.expires})
