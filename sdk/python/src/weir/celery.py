"""A transport of Kombu: Celery's own workers and producers on queues of Weir.

    app = Celery(broker_url="weir://user:password@host:5432/database?sslmode=require")
    app.conf.broker_transport = "weir.celery:Transport"

The second line tells Kombu where the transport is, which it else knows after ``import weir.celery`` only. The query of
the URL is PostgreSQL's. ``broker_transport_options``: ``dsn`` instead of the URL; ``lease``, seconds, of what a worker
holds (30 unless given; it is renewed, so that it need not be as long as a task); ``queue_settings``, what create_queue
takes. What a worker that was killed held is elsewhere within the lease. A countdown or an eta is Weir's own delay: no
worker holds the task meanwhile. A task that is rejected, or whose workers died five times, is a dead letter of the
group ``default``.

Remote control (``inspect``, ``status``, ``control``) works: a fanout exchange is a topic of Weir, and so are the
routing keys by which answers come back. A worker that has it looks into two queues in turns, each some 50 ms; one
without (``worker_enable_remote_control = False``) is told of a task at once. ``result_backend = "weir://"`` keeps what
became of tasks, see ``weir.celery_results``. Events there are not.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from queue import Empty
from typing import Any
from urllib.parse import urlsplit

from kombu.transport import TRANSPORT_ALIASES, virtual
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from weir import calls
from weir.errors import Error
from weir.errors_generated import CLAIM_EXPIRED, CLAIM_NOT_FOUND
from weir.generated.client import Client, connect
from weir.generated.consumer import Received
from weir.generated.wait import STEP_MAX, Waiter
from weir.types import Message

TRANSPORT_ALIASES["weir"] = "weir.celery:Transport"

log = logging.getLogger("weir")

_LEASE = 30.0
# How many messages one receive may claim where the consumer sets no limit.
_BATCH = 100
_NAME_MAX = 47
_POLL = 0.05
_LOST = {CLAIM_NOT_FOUND, CLAIM_EXPIRED}


class BrokenConnection(ConnectionError):
    """The way to the database is broken; Kombu opens it again."""


def queue_name(name: str) -> str:
    """Return a name of Weir's for a queue of Celery's: itself where it is one, else like it and as distinct."""
    if re.fullmatch(r"[a-z0-9_.-]+", name) and len(name) <= _NAME_MAX:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return re.sub(r"[^a-z0-9_.-]", "-", name.lower())[: _NAME_MAX - len(mark) - 1] + "-" + mark


def _topic(exchange: str, routing_key: str) -> str:
    """Return the topic of Weir for what goes to an exchange with a routing key."""
    words = (exchange, routing_key)
    return ".".join(["kombu", *(hashlib.sha256(word.encode()).hexdigest()[:32] for word in words)])


def _due(message: dict[str, Any]) -> float | None:
    """Return the seconds until the eta of a task, as far as it lies ahead."""
    eta = (message.get("headers") or {}).get("eta")
    if not eta:
        return None
    at = datetime.fromisoformat(eta.replace("Z", "+00:00"))
    left = (at if at.tzinfo else at.replace(tzinfo=timezone.utc)) - datetime.now(timezone.utc)
    return max(left.total_seconds(), 0.0) or None


class Leases:
    """Renews the claims of what was delivered and not settled yet, from a thread of its own."""

    def __init__(self, client: Client, lease: float) -> None:
        self._client = client
        self._lease = lease
        self._held: dict[tuple[str, int], set[int]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, messages: Sequence[Message[Any]]) -> None:
        """Begin to renew the claims of messages."""
        with self._lock:
            for message in messages:
                self._held.setdefault((message.queue, message.claim_id), set()).add(message.id)
        if self._thread is None:
            self._thread = threading.Thread(target=self._renew, name="weir-leases", daemon=True)
            self._thread.start()

    def remove(self, queue: str, claim_id: int, message_id: int) -> None:
        """Note that a message is settled."""
        with self._lock:
            left = self._held.get((queue, claim_id), set())
            left.discard(message_id)
            if not left:
                self._held.pop((queue, claim_id), None)

    def stop(self) -> None:
        """Renew no more."""
        self._stopped.set()

    def _renew(self) -> None:
        while not self._stopped.wait(self._lease / 3):
            with self._lock:
                claims = list(self._held)
            for queue, claim_id in claims:
                try:
                    self._client.run(calls.extend(queue, None, [claim_id], self._lease))
                except Error as error:
                    if error.code in _LOST:
                        with self._lock:
                            self._held.pop((queue, claim_id), None)
                    log.warning("cannot renew claim %s of %s: %s", claim_id, queue, error)


class QoS(virtual.QoS):  # type: ignore[misc]
    """Settles messages in Weir when Kombu says what becomes of them."""

    def ack(self, delivery_tag: str) -> None:
        """Finish a message."""
        self.channel.settle("ack", delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Give a message back, which counts as a delivery, so that no task goes round forever; or bury it."""
        self.channel.settle("nack" if requeue else "reject", delivery_tag)
        super().ack(delivery_tag)


class Channel(virtual.Channel):  # type: ignore[misc]
    """A channel of Kombu: queues of Weir, each with the group ``default``."""

    QoS = QoS
    supports_fanout = True

    def __init__(self, connection: Transport, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        options = connection.client.transport_options
        self._lease = float(options.get("lease", _LEASE))
        self._settings = dict(options.get("queue_settings", {}))
        self._client = connection.weir
        self._leases = Leases(self._client, self._lease)
        self._waiters: dict[str, Waiter] = {}
        self._claimed: dict[str, Received[Any]] = {}
        self._no_ack: set[str] = set()
        self._passing: set[str] = set()  # queues that end with the channel

    def settle(self, kind: str, delivery_tag: str) -> None:
        """Ack, nack, release or reject a delivered message. One that is somebody else's by now is left alone."""
        message = self._claimed.pop(delivery_tag, None)
        if message is None:
            return
        self._leases.remove(message.queue, message.claim_id, message.id)
        settle: dict[str, Callable[[], int]] = {
            "ack": message.ack,
            "nack": lambda: message.nack(0),
            "release": message.release,
            "reject": lambda: message.reject("rejected by the consumer"),
        }
        try:
            self._run(settle[kind])
        except Error as error:
            if error.code not in _LOST:
                raise
            log.warning("message %s of %s was delivered again before its %s", message.id, message.queue, kind)

    def close(self) -> None:
        """Give back what is not settled and stop renewing."""
        if not self.closed:
            super().close()
            self._leases.stop()
            for waiter in self._waiters.values():
                waiter.close()
            for queue in self._passing:
                with suppress(Error):
                    self._client.drop_queue(queue_name(queue))

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        """Begin to consume; with ``no_ack`` a message is finished when it is delivered."""
        (self._no_ack.add if no_ack else self._no_ack.discard)(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        """Return one message, or None."""
        message = super().basic_get(queue, no_ack=no_ack, **kwargs)
        if message is not None and no_ack:
            self.settle("ack", message.delivery_tag)
        return message

    # --- what Kombu asks of a transport

    def _new_queue(self, queue: str, auto_delete: bool = False, arguments: Any = None, **_: Any) -> None:
        settings = dict(self._settings)
        if auto_delete:
            self._passing.add(queue)
            lasting = (arguments or {}).get("x-message-ttl")
            settings = {} if lasting is None else {"ttl": lasting / 1000}
        self._run(lambda: self._client.create_queue(queue_name(queue), **settings))

    def _queue_bind(self, exchange: str, routing_key: str, pattern: Any, queue: str) -> None:
        """Let other processes find a queue: of a fanout exchange, or by a routing key that is not its name."""
        if self.typeof(exchange).type == "fanout":
            self._run(lambda: self._client.bind(_topic(exchange, ""), queue_name(queue)))
        elif self.typeof(exchange).type == "direct" and routing_key != queue:
            self._run(lambda: self._client.bind(_topic(exchange, routing_key), queue_name(queue)))

    def _put_fanout(self, exchange: str, message: dict[str, Any], routing_key: str, **_: Any) -> None:
        self._run(lambda: self._client.publish(_topic(exchange, ""), message))

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> Any:
        """Return the queues of a routing key: those that this process bound, or else those of others."""
        here = super()._lookup(exchange, routing_key, default)
        return here or (self._run(lambda: self._client.route(_topic(exchange, routing_key))) if exchange else here)

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        self._run(lambda: self._client.send(queue_name(queue), message, delay=_due(message)))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        for message in self._receive(queue, 1):
            return message
        raise Empty

    def _get_many(self, queues: Sequence[str], timeout: float | None = None) -> None:
        """Deliver what there is in the queues; Empty when there is nothing."""
        found = False
        for queue in list(queues):
            room = self.qos.can_consume_max_estimate()
            if room != 0:
                for message in self._receive(queue, min(room or _BATCH, _BATCH)):
                    found = True
                    if queue in self._no_ack:
                        self.settle("ack", message["properties"]["delivery_tag"])
                    self.connection._deliver(message, queue)
        if not found:
            self._wait(queues, min(timeout or STEP_MAX, STEP_MAX))
            raise Empty

    def _restore(self, message: Any) -> None:
        """Give back what a channel that closes holds, prefetched or at work: the delivery is not counted."""
        self.settle("release", message.delivery_tag)

    def _size(self, queue: str) -> int:
        return sum(s.waiting + s.delayed for s in self._run(lambda: self._client.stats(queue_name(queue))))

    def _purge(self, queue: str) -> int:
        return self._run(lambda: self._client.purge(queue_name(queue)))  # type: ignore[no-any-return]

    def _delete(self, queue: str, *_: Any, **__: Any) -> None:
        self._passing.discard(queue)
        if waiter := self._waiters.pop(queue, None):
            waiter.close()
        self._run(lambda: self._client.drop_queue(queue_name(queue)))

    # --- inside

    def _receive(self, queue: str, most: int) -> list[dict[str, Any]]:
        name = queue_name(queue)
        messages = self._run(lambda: self._client.receive(name, max=most, lease=self._lease))
        if messages:
            self._leases.add(messages)
            if queue in self._waiters:
                self._waiters[queue].found()
        return [self._delivery(message) for message in messages]

    def _delivery(self, message: Received[Any]) -> dict[str, Any]:
        """Return what Kombu takes for a message, and remember the claim under its tag."""
        tag = f"{message.queue}/{message.claim_id}/{message.id}"
        self._claimed[tag] = message
        raw: dict[str, Any] = message.payload
        raw["properties"]["delivery_tag"] = tag
        raw["properties"]["delivery_info"]["redelivered"] = message.attempt > 1
        return raw

    def _wait(self, queues: Sequence[str], most: float) -> None:
        """Wait for a message: told by PostgreSQL where it is one queue, else for a moment."""
        if len(queues) != 1 or sum(bool(channel._active_queues) for channel in self.connection.channels) > 1:
            time.sleep(min(_POLL, most))
            return
        [queue] = queues
        if queue not in self._waiters:
            self._waiters[queue] = Waiter(self._client, queue_name(queue))
        self._waiters[queue].wait(most)

    def _run(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Error as error:
            if error.code[:2] in {"08", "57"}:
                raise BrokenConnection(str(error)) from error
            raise


def dsn_of(url: str) -> str:
    """Return the DSN of a URL of Kombu's, with all that its query says."""
    dsn = "postgresql" + url[url.index("://") :]
    named = urlsplit(dsn).hostname or conninfo_to_dict(dsn).get("host")
    return dsn if named else make_conninfo(dsn, host="localhost")


def _dsn(connection: Any, port: int) -> str:
    """Return the DSN of a connection of Kombu, which is a URL, or made of parts."""
    host = connection.hostname or "localhost"
    if "://" in host:
        return dsn_of(host)
    return make_conninfo(
        host=host,
        port=connection.port or port,
        dbname=(connection.virtual_host or "").lstrip("/") or None,
        user=connection.userid,
        password=connection.password,
    )


class Transport(virtual.Transport):  # type: ignore[misc]
    """The transport ``weir://``."""

    Channel = Channel
    implements = virtual.Transport.implements.extend(exchange_type=frozenset({"direct", "topic", "fanout"}))
    can_parse_url = True  # else Kombu takes its query for arguments of its own
    default_port = 5432
    polling_interval = None  # a channel that finds nothing waits itself
    driver_type = "weir"
    driver_name = "weir"
    connection_errors = (*virtual.Transport.connection_errors, BrokenConnection)

    def __init__(self, client: Any, **kwargs: Any) -> None:
        self.weir = connect(client.transport_options.get("dsn") or _dsn(client, self.default_port))
        super().__init__(client, **kwargs)

    def close_connection(self, connection: Any) -> None:
        """Close the channels and the connections to the database."""
        super().close_connection(connection)
        self.weir.close()

    def driver_version(self) -> str:
        """Return the release of the engine."""
        return self.weir.version()
