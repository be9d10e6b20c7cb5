-- weir_internal.parked_row
-- One message of an ordered group whose key is in trouble: it waits for its turn, in its key's line. The `parked` table
-- of each queue is a typed table of it. What waits behind a message in trouble is parked as it is claimed.
do $$
begin
    if to_regtype('weir_internal.parked_row') is null then
        create type weir_internal.parked_row as (
            group_id    int,           -- the group; negative: a note about a line of it, see the template step_up
            line        text,          -- the key, or the lane for messages without one: see weir_internal.line_of
            no          bigint,        -- order within the line
            lane        smallint,      -- the key's lane
            id          bigint,        -- the message
            attempts    smallint,      -- deliveries it already had
            key         text,          -- as sent
            payload     jsonb,         -- as sent
            headers     jsonb,         -- as sent
            enqueued_at timestamptz,   -- when it was sent
            due_at      timestamptz,   -- not delivered before; null: once it is at the head of its line
            holder      bigint,        -- the claim under which a consumer has it; null: none
            came_late   boolean,       -- out of `later`: not delivered while a claim of the lane may hold the same key
            parked_at   timestamptz,   -- when it joined the line
            reason      text           -- the last error, as nack told it; null: none was told
        );
    end if;
end
$$;
