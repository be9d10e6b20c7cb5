-- weir_internal.peeked
-- What one statement tells a receive of its queue and group: see log/accessors.sql.
do $$ begin if to_regtype('weir_internal.peeked') is null then
create type weir_internal.peeked as (
    q            weir_internal.queues,
    g            weir_internal.groups,
    c            weir_internal.claim, -- the cursor of lane 0; null: it has none in the claim log
    aside_expiry timestamptz,         -- when the first lease of lane -1 may end; null: nothing was claimed in it
    is_due       boolean,             -- the queue has delayed messages that are due, be it for others or claimed
    is_keyed     boolean,             -- the queue was sent a key
    room         int,                 -- a limited group's, when its lock is held: how many messages may be claimed now
    inflight     bigint[],            -- and its claims that count
    arrival      bigint,              -- and from where to go on with its rate: see internal/rate_room.sql
    with_cancelled boolean            -- true: who asks takes out what was cancelled himself: see log/cancelled.sql
);
end if; end $$;
