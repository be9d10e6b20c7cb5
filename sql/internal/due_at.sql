-- weir_internal.due_at(p_queue, p_clock, p_delay)
-- When a message sent with a delay is due, later than any place that a group may already have reached in `later`. A
-- group first stores the time it claims up to in the clock sequence and then takes its snapshot; here the transaction
-- first gets its id and then reads that sequence. So either the snapshot knows the transaction, as in progress, and the
-- group looks for its rows; or the transaction came after it, and its rows are due after the stored time. This holds
-- also when the machine's clock is set back.
--
-- Parameters:
--   p_queue  queue number
--   p_clock  name of the queue's clock sequence, microseconds
--   p_delay  0 to 10 years
-- Returns: the time.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.due_at(p_queue int, p_clock regclass, p_delay interval)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_reached bigint;
begin
    if p_delay < interval '0' or p_delay > interval '10 years' then
        raise exception 'delay % is out of range', p_delay
            using errcode = 'WR006', hint = 'Give a delay of 0 to 10 years.';
    end if;
    if pg_current_xact_id() is not null then -- assigns the id
        v_reached := pg_sequence_last_value(p_clock);
    end if;
    if v_reached = 0 then
        v_reached := 1; -- from now on receive looks into `later`
        perform setval(p_clock, v_reached) where pg_sequence_last_value(p_clock) = 0;
    end if;
    return greatest(weir_internal.clock() + p_delay,
        timestamptz 'epoch' + (v_reached + 1) * interval '1 microsecond');
end
$$;
