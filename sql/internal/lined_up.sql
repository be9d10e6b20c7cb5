-- weir_internal.lined_up(p_queue, p_group, p_id)
-- The messages that wait in lines of keys.
--
-- Parameters:
--   p_queue  queue number
--   p_group  id of the group; null = all groups
--   p_id     one message; null = all
-- Returns: the messages; none in a queue that never had such a group.
-- Raises: none
-- Locks: none
create or replace function weir_internal.lined_up(p_queue int, p_group int, p_id bigint)
returns setof weir_internal.line_message
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if to_regclass(format('weir_internal.q%s_in_line', p_queue)) is null then
        return;
    elsif p_id is not null then
        return query execute format(
            'select * from weir_internal.q%s_in_line where id = $2 and ($1 is null or group_id = $1)', p_queue)
        using p_group, p_id;
    else
        return query execute format(
            'select * from weir_internal.q%s_in_line where $1 is null or group_id = $1', p_queue)
        using p_group;
    end if;
end
$$;
