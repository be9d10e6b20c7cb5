-- weir_internal.later_row
-- One message that is not due: a delayed send (for every group) or a retry (for one). The `later` table of each queue
-- is a typed table of it.
do $$
begin
    if to_regtype('weir_internal.later_row') is null then
        create type weir_internal.later_row as (
            txid        xid8,          -- the transaction that wrote the row
            due_at      timestamptz,   -- not claimed before
            id          bigint,        -- the message
            group_id    int,           -- the one group a retry is for; null: every group
            attempts    smallint,      -- deliveries it already had
            key         text,          -- as sent
            payload     jsonb,         -- as sent
            headers     jsonb,         -- as sent
            enqueued_at timestamptz,   -- when it was sent
            reason      text           -- the last error, as nack told it; null: none was told
        );
    end if;
end
$$;
