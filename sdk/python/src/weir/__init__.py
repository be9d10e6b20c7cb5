"""Weir: queues, event logs and jobs inside PostgreSQL."""

from weir.aio.client import AsyncClient, AsyncTransaction, connect_async
from weir.aio.consumer import AsyncConsumer, AsyncReceived
from weir.aio.producer import AsyncProducer
from weir.errors import Cancelled, Error, PayloadError, Reject, RetryAfter
from weir.generated.client import Client, Transaction, connect
from weir.generated.consumer import Consumer, Received
from weir.generated.producer import Producer
from weir.types import (
    Binding,
    DeadLetter,
    Duration,
    Finding,
    Group,
    GroupStats,
    Message,
    Outgoing,
    Published,
    Queue,
    StoredMessage,
)
from weir.worker import AsyncWorker, Context, Health, Worker

__all__ = [
    "AsyncClient",
    "AsyncConsumer",
    "AsyncProducer",
    "AsyncReceived",
    "AsyncTransaction",
    "AsyncWorker",
    "Binding",
    "Cancelled",
    "Client",
    "Consumer",
    "Context",
    "DeadLetter",
    "Duration",
    "Error",
    "Finding",
    "Group",
    "GroupStats",
    "Health",
    "Message",
    "Outgoing",
    "PayloadError",
    "Producer",
    "Published",
    "Queue",
    "Received",
    "Reject",
    "RetryAfter",
    "StoredMessage",
    "Transaction",
    "Worker",
    "connect",
    "connect_async",
]
