-- Indexes by which a message is found by its id alone. Only the log of the face's queues has them, so other logs pay
-- nothing. None is partial, though many rows of the claims' have no key: a plan that was made when there were few rows
-- may walk a partial index whole.
create index if not exists log_0_id on weir_log_pgmq.log_0 (queue_no, lane, id);
create index if not exists log_1_id on weir_log_pgmq.log_1 (queue_no, lane, id);
create index if not exists log_2_id on weir_log_pgmq.log_2 (queue_no, lane, id);
create index if not exists rest_id on weir_log_pgmq.rest (queue_no, lane, id);
create index if not exists delayed_queue_id on weir_log_pgmq.delayed (queue_no, id);
create index if not exists claims_0_ids on weir_log_pgmq.claims_0 (pgmq._span_key(group_no, ids));
create index if not exists claims_1_ids on weir_log_pgmq.claims_1 (pgmq._span_key(group_no, ids));
