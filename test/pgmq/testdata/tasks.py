"""The Celery application of celery_client.py: its broker is PGMQ, by kombu's own transport."""

import os

import psycopg
from celery import Celery

app = Celery("tasks", broker=os.environ["BROKER"])
app.conf.broker_transport_options = {
    "init_extension": False, "polling_interval": 0.05, "wait_time_seconds": 1, "visibility_timeout": 60,
}
app.conf.task_acks_late = True
app.conf.worker_prefetch_multiplier = 1


@app.task(bind=True, max_retries=5)
def work(self, n):
    """Fail twice if n is divisible by 3, then note the number and how often it was tried."""
    if n % 3 == 0 and self.request.retries < 2:
        raise self.retry(countdown=0)
    with psycopg.connect(os.environ["DSN"], autocommit=True) as conn:
        conn.execute("insert into done values (%s, %s)", [n, self.request.retries])
