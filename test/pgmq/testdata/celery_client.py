"""Runs a Celery application with two workers, and prints what became of its tasks."""

import os
import signal
import subprocess
import sys
import time

import psycopg

from tasks import work

conn = psycopg.connect(os.environ["DSN"], autocommit=True)
conn.execute("create table done (n int, retries int)")
start = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--pool", "threads", "--concurrency", "2"]
quiet = ["--loglevel", "ERROR", "--without-mingle", "--without-gossip", "--without-heartbeat"]
workers = [subprocess.Popen([*start, *quiet, "-n", f"w{i}"], stdout=subprocess.DEVNULL) for i in range(2)]
for n in range(12):
    work.apply_async([n], countdown=1 if n == 11 else None)
end = time.monotonic() + 120
while conn.execute("select count(*) from done").fetchone()[0] < 12 and time.monotonic() < end:
    time.sleep(0.1)
for worker in workers:
    worker.send_signal(signal.SIGTERM)
print("exits", [worker.wait(60) for worker in workers])
print(conn.execute("select n, retries from done order by 1, 2").fetchall())
