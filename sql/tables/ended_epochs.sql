-- weir_internal.ended_epochs
-- Epochs of the lanes of keys that have ended and whose lanes are still looked into: of each but the last number of
-- queues.key_epochs. See log/trim_key_epochs.sql.
create table if not exists weir_internal.ended_epochs (
    queue_no   int not null references weir_internal.queues on delete cascade, -- the queue
    next_lane  int not null,  -- the first lane of the next epoch
    ended_by   xid8 not null, -- the transaction that changed the number of lanes; who does not see it sends to the old
    written_by xid8,          -- who may have sent to the old lanes is a transaction before this; null: not known yet
    primary key (queue_no, next_lane)
);
