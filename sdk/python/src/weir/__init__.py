"""Weir: queues, event logs and jobs inside PostgreSQL."""

from weir.aio.client import AsyncClient, AsyncTransaction, connect_async
from weir.aio.consumer import AsyncConsumer, AsyncReceived
from weir.aio.jobs import AsyncJob, AsyncJobs, AsyncRunningJob
from weir.aio.producer import AsyncProducer
from weir.errors import Cancelled, Error, PayloadError, Reject, RetryAfter, Snooze
from weir.generated.client import Client, Transaction, connect
from weir.generated.consumer import Consumer, Received
from weir.generated.jobs import Job, Jobs, RunningJob
from weir.generated.producer import Producer
from weir.hooks import Hooks, Sending
from weir.types import (
    Binding,
    DeadLetter,
    Duration,
    Enqueued,
    Finding,
    Group,
    GroupStats,
    JobStatus,
    Log,
    Message,
    Outgoing,
    Published,
    Queue,
    Ref,
    Schedule,
    Standing,
    Step,
    StoredMessage,
    WorkflowStep,
)
from weir.worker import AsyncWorker, Context, Health, Worker

__all__ = [
    "AsyncClient",
    "AsyncConsumer",
    "AsyncJob",
    "AsyncJobs",
    "AsyncProducer",
    "AsyncReceived",
    "AsyncRunningJob",
    "AsyncTransaction",
    "AsyncWorker",
    "Binding",
    "Cancelled",
    "Client",
    "Consumer",
    "Context",
    "DeadLetter",
    "Duration",
    "Enqueued",
    "Error",
    "Finding",
    "Group",
    "GroupStats",
    "Health",
    "Hooks",
    "Job",
    "JobStatus",
    "Jobs",
    "Log",
    "Message",
    "Outgoing",
    "PayloadError",
    "Producer",
    "Published",
    "Queue",
    "Received",
    "Ref",
    "Reject",
    "RetryAfter",
    "RunningJob",
    "Schedule",
    "Sending",
    "Snooze",
    "Standing",
    "Step",
    "StoredMessage",
    "Transaction",
    "Worker",
    "WorkflowStep",
    "connect",
    "connect_async",
]
