-- weir_internal.group_state
-- How a group stands to a message: see log/group_states.sql.
do $$ begin if to_regtype('weir_internal.group_state') is null then
create type weir_internal.group_state as (
    id       bigint,      -- the message
    state    text,        -- 'claimed', 'parked', 'dead', 'delayed' or 'waiting'
    claim    bigint,      -- the claim that has it, or had it until its lease ended
    attempts int,         -- deliveries so far, a claim's included; null: none
    since    timestamptz, -- when it was claimed, parked or given up
    until    timestamptz, -- when the lease ends, or it is due; null: that is not what it waits for
    pid      int,         -- the session that has it
    behind   bigint,      -- the message of its key that is first
    reason   text         -- why it is delivered again, or no more
);
end if; end $$;
