-- weir_internal.line_message
-- One message that waits in the line of its key, of a group that shares its deliveries out among the keys. The `lines`
-- table of such a queue is a typed table of it. Rows are only appended on the way of messages; which of a line are
-- still there is what the line's place says, see weir_internal.line_turn.
do $$
begin
    if to_regtype('weir_internal.line_message') is null then
        create type weir_internal.line_message as (
            group_id    int,           -- the group
            line        text,          -- 'k' and the key; 'l': the messages without one
            no          bigint,        -- order within the line
            id          bigint,        -- the message
            attempts    smallint,      -- deliveries it already had
            key         text,          -- as sent
            payload     jsonb,         -- as sent
            headers     jsonb,         -- as sent
            enqueued_at timestamptz    -- when it was sent
        );
    end if;
end
$$;
