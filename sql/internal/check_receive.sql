-- weir_internal.check_receive(p_queue, p_group, p_group_no, p_max, p_lease)
-- Says what is wrong with a receive. Called only when something is, or when the group is paused.
--
-- Parameters:
--   p_queue     name of the queue
--   p_group     name of the group
--   p_group_no  its number, null when there is none
--   p_max       messages asked for
--   p_lease     lease asked for
-- Returns: nothing, when nothing is wrong.
-- Raises: WR003, WR006, WR012
-- Locks: none
create or replace function weir_internal.check_receive(
    p_queue text, p_group text, p_group_no int, p_max int, p_lease interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_isolation('receive');
    if p_group_no is null then
        perform weir_internal.fail_unknown_group(p_queue, p_group);
    end if;
    if p_max is null or p_max not between 1 and 10000 then
        raise exception 'max % is out of range', coalesce(p_max::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 10,000 messages.';
    end if;
    if p_lease is null or p_lease not between interval '1 millisecond' and interval '7 days' then
        raise exception 'lease % is out of range', coalesce(p_lease::text, 'null')
            using errcode = 'WR006', hint = 'Take a lease of 1 millisecond to 7 days.';
    end if;
end
$$;
