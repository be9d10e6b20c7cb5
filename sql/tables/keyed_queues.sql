-- weir_internal.keyed_queues
-- Queues that were sent a key. Whoever sends the first adds a row in the same transaction, so who sees the message sees
-- the row; several may do so at once. maintain sets queues.keyed and deletes the rows.
create table if not exists weir_internal.keyed_queues (
    queue_no int not null -- the queue
);
create index if not exists keyed_queues_queue on weir_internal.keyed_queues (queue_no);
