-- What the database says: messages sent, and messages finished.
select total_messages as sent, total_messages - queue_length as done from pgmq.metrics('bench')
