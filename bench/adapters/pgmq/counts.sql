-- What the database says: messages sent, messages finished, messages received and not finished.
select total_messages as sent, total_messages - queue_length as consumed, queue_length - queue_visible_length as claimed
from pgmq.metrics('bench')
