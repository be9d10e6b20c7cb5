-- pgmq.queue_record
-- A queue as pgmq.list_queues returns it: a row of pgmq.meta.
do $$ begin if to_regtype('pgmq.queue_record') is null then
create type pgmq.queue_record as (
    queue_name     varchar,
    is_partitioned boolean,
    is_unlogged    boolean,
    created_at     timestamptz
);
end if; end $$;
