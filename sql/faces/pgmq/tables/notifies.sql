-- The queues whose senders notify, and the least time between two notifications of one.
create table if not exists pgmq.notifies (
    queue_name           varchar unique not null references pgmq.meta (queue_name) on delete cascade, -- the queue
    throttle_interval_ms int not null                    -- milliseconds; 0: whoever sends notifies
);
-- Whether there ever was one: above 0 who sends looks into notifies.
create sequence if not exists pgmq._notifying minvalue 0;
