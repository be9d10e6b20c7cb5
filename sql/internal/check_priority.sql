-- weir_internal.check_priority(p_queue, p_priorities, p_priority, p_keyed)
-- Refuses a priority that a message cannot have. A message with a key has none: its place is behind the message of its
-- key before it.
--
-- Parameters:
--   p_queue       name of the queue, for the error
--   p_priorities  how many levels it has
--   p_priority    0 .. p_priorities - 1
--   p_keyed       whether there are keys
-- Returns: nothing.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.check_priority(
    p_queue text, p_priorities int, p_priority int, p_keyed boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_priority not between 0 and p_priorities - 1 then
        raise exception 'queue "%" has no priority %', p_queue, p_priority
            using errcode = 'WR006',
            hint = format('Give 0 to %s, or create a queue with more priorities.', p_priorities - 1);
    end if;
    if p_keyed and p_priority > 0 then
        raise exception 'a message with a key has priority % for queue "%"', p_priority, p_queue
            using errcode = 'WR006', hint = 'A key is an order of its own. Send without a key, or without a priority.';
    end if;
end
$$;
