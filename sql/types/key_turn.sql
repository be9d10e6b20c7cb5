-- weir_internal.key_turn
-- How a key queue stands: its newest row counts. The rows of state 'w' are the row in which key queues wait for their
-- turn. What was delivered at once is a row of key_queue '':
--   'w'  it has messages and waits for its turn
--   's'  it has messages, and its key has as many claimed as it may
--   'e'  it is empty
--   'd'  a delivery
do $$ begin if to_regtype('weir_internal.key_turn') is null then
create type weir_internal.key_turn as (
    group_no   int,     -- the group
    key_queue  text,    -- the key queue; '' = a delivery
    no         bigint,  -- order, and the place in the row of those that wait; a delivery's is less than its claim's
    state      "char",  -- see above
    pos        bigint,  -- the key queue is delivered up to this number; 'd': key queues had their turns up to this no
    ids        bigint[], -- 'd', with a limit per key: the messages delivered
    key_queues text[]   -- and of which key queue each was
);
end if; end $$;
