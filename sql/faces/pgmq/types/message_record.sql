-- pgmq.message_record
-- A message as PGMQ returns it. Clients rely on the order of the fields.
do $$ begin if to_regtype('pgmq.message_record') is null then
create type pgmq.message_record as (
    msg_id       bigint,      -- from 1 on in each queue, without gaps but those that rolled back sends leave
    read_ct      int,         -- how often it was read
    enqueued_at  timestamptz, -- when it was sent
    last_read_at timestamptz, -- when it was read last; null: never
    vt           timestamptz, -- it is not read again before
    message      jsonb,       -- what was sent, which may be null
    headers      jsonb        -- null: none
);
end if; end $$;
