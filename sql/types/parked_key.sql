-- weir.parked_key
-- A key whose messages wait in a queue of their own, as weir.parked_keys returns it.
do $$
begin
    if to_regtype('weir.parked_key') is null then
        create type weir.parked_key as (
            key         text,        -- the key; null: messages without one
            lane        int,         -- of a queue of messages without a key, in an ordered group: their lane
            messages    int,         -- in it, those with a consumer included; counted up to 1,000
            first_id    bigint,      -- the message at its head
            attempts    int,         -- deliveries that message had
            enqueued_at timestamptz, -- when that message was sent
            parked_at   timestamptz, -- when it was parked; null: it is no trouble that it waits for
            due_at      timestamptz, -- not delivered before; null: whenever it is its turn
            waits_for   text,        -- 'time', 'claim' (a consumer has it), 'consumer' (any), 'turn', 'key_concurrency'
            reason      text         -- the last error, as nack told it; null: none was told
        );
    end if;
end
$$;
