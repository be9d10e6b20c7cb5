"""Uses PGMQ's own client as a program does, and prints all that it was told, times apart."""

import sys
import warnings
from datetime import datetime, timedelta, timezone

from pgmq import PGMQueue

from plain import plain

warnings.simplefilter("ignore")


def say(what, call):
    try:
        print(what, plain(call()), flush=True)
    except Exception as e:
        print(what, type(e).__name__, str(e).split("\n")[0], flush=True)


queue = PGMQueue(conn_string=sys.argv[1], init_extension=False, vt=1000, pool_size=2)
later = datetime.now(timezone.utc) + timedelta(seconds=3000)
say("create", lambda: queue.create_queue("q"))
say("create unlogged", lambda: queue.create_queue("u", unlogged=True))
say("list", lambda: queue.list_queues())
say("validate", lambda: queue.validate_queue_name("x" * 50))
say("send", lambda: queue.send("q", {"no": 1}))
say("send headers", lambda: queue.send("q", {"no": 2}, headers={"h": "v"}))
say("send delay", lambda: queue.send("q", {"no": 3}, delay=2000))
say("send at", lambda: queue.send("q", {"no": 4}, tz=later))
say("send all", lambda: queue.send("q", {"no": 5}, headers={"h": 1}, delay=later))
say("send batch", lambda: queue.send_batch("q", [{"no": 6}, {"no": 7}, {"no": 8}]))
say("send batch headers", lambda: queue.send_batch("q", [{"no": 9}, {"no": 10}], headers=[{"a": 1}, {"b": 2}]))
say("send batch delay", lambda: queue.send_batch("q", [{"no": 11}], delay=4000))
say("send nowhere", lambda: queue.send("none", {"no": 1}))
say("metrics", lambda: queue.metrics("q"))
say("metrics all", lambda: queue.metrics_all())
say("read", lambda: queue.read("q"))
say("read some", lambda: queue.read("q", vt=2000, qty=3))
say("read batch", lambda: queue.read_batch("q", batch_size=2))
say("read with poll", lambda: queue.read_with_poll("q", qty=1, max_poll_seconds=1, poll_interval_ms=10))
say("read nothing", lambda: queue.read("u"))
say("read with poll nothing", lambda: queue.read_with_poll("u", qty=1, max_poll_seconds=1, poll_interval_ms=10))
say("set_vt", lambda: queue.set_vt("q", 1, 5000))
say("set_vt at", lambda: queue.set_vt("q", 2, later))
say("set_vt some", lambda: queue.set_vt("q", [3, 6, 99], 0))
say("set_vt nothing", lambda: queue.set_vt("q", 99, 0))
say("read again", lambda: queue.read("q", vt=1000, qty=2))
say("delete", lambda: queue.delete("q", 1))
say("delete again", lambda: queue.delete("q", 1))
say("delete some", lambda: queue.delete_batch("q", [1, 2, 3]))
say("archive", lambda: queue.archive("q", 4))
say("archive again", lambda: queue.archive("q", 4))
say("archive some", lambda: queue.archive_batch("q", [4, 5, 6]))
say("set_vt last", lambda: queue.set_vt("q", [7, 8, 9, 10], 0))
say("pop", lambda: queue.pop("q"))
say("pop some", lambda: queue.pop("q", qty=2))
say("fifo index", lambda: queue.create_fifo_index("q"))
say("detach", lambda: queue.detach_archive("q"))
say("bind", lambda: queue.bind_topic("a.*", "q"))
say("bindings", lambda: queue.list_topic_bindings("q"))
say("send topic", lambda: queue.send_topic("a.b", {"no": 12}))
say("send batch topic", lambda: queue.send_batch_topic("a.b", [{"no": 13}, {"no": 14}]))
say("unbind", lambda: queue.unbind_topic("a.*", "q"))
say("pattern", lambda: queue.validate_topic_pattern("a..b"))
say("notify", lambda: queue.enable_notify("q", throttle_interval_ms=5))
say("throttles", lambda: queue.list_notify_throttles())
say("notify less", lambda: queue.update_notify("q", 50000))
say("notify no more", lambda: queue.disable_notify("q"))
groups = [{"x-pgmq-group": f"g{n % 2}"} for n in range(6)]
say("send groups", lambda: queue.send_batch("q", [{"g": n} for n in range(6)], headers=groups))
say("read grouped", lambda: queue.read_grouped("q", vt=1000, qty=2))
say("read grouped rr", lambda: queue.read_grouped_rr("q", vt=1000, qty=2))
say("read grouped with poll", lambda: queue.read_grouped_with_poll("q", vt=1000, qty=2, max_poll_seconds=1))
say("read grouped rr with poll", lambda: queue.read_grouped_rr_with_poll("q", vt=1000, qty=2, max_poll_seconds=1))
say("read with a condition", lambda: queue.read("q", vt=1000, conditional={"g": 5}))
say("metrics at last", lambda: queue.metrics("q"))
say("purge", lambda: queue.purge("q"))
say("drop", lambda: queue.drop_queue("q"))
say("drop again", lambda: queue.drop_queue("q"))
with queue.pool.connection() as conn, conn.transaction(force_rollback=True):
    queue.send("u", {"rolled": "back"}, conn=conn)
say("read what was rolled back", lambda: queue.read("u"))
queue.close()
