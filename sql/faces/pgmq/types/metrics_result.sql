-- pgmq.metrics_result
-- What pgmq.metrics returns of a queue.
do $$ begin if to_regtype('pgmq.metrics_result') is null then
create type pgmq.metrics_result as (
    queue_name               text,
    queue_length             bigint,      -- messages that are not deleted
    newest_msg_age_sec       int,         -- seconds; null: it is empty
    oldest_msg_age_sec       int,
    total_messages           bigint,      -- the last id that was given out
    scrape_time              timestamptz,
    queue_visible_length     bigint,      -- of these, those that a read would return
    default_partition_length bigint       -- null: no queue has partitions here
);
end if; end $$;
