-- weir_internal.found_record
-- Where in a log a message stands.
do $$ begin if to_regtype('weir_internal.found_record') is null then
create type weir_internal.found_record as (
    id          bigint,      -- the message
    txid        xid8,        -- the transaction that sent it
    seg         bigint,      -- the segment
    lane        int,         -- the lane
    record      bigint,      -- id of its record
    enqueued_at timestamptz, -- when the record was sent
    group_no    int,         -- the one group that it is for; null: all
    attempts    int,         -- deliveries before; this and what follows is null where nobody asks for it
    key         text,
    headers     jsonb,
    payload     text,        -- JSON as sent; null: it has a body
    body        bytea
);
end if; end $$;
