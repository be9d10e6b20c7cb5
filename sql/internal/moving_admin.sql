-- weir_internal.moving_purge(p_queue, p_group), moving_seek(p_queue, p_group, p_position),
-- moving_cancel(p_queue, p_id, p_reason)
-- What the functions of a log of the same names do, on a queue that is moving: in both of its logs. A message's id as
-- the position of a seek lies in one of them; before it are those of the log that the queue is leaving.
--
-- Parameters: as those
--   p_queue, p_group  names of the queue and the group
--   p_position        where the group is to go on
--   p_id, p_reason    the job, and why it is cancelled
-- Returns: as those.
-- Raises: as those.
-- Locks: as those, in both logs.
create or replace function weir_internal.moving_purge(p_queue text, p_group text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    v_log text;
    v_count bigint;
    v_sum bigint := 0;
begin
    foreach v_log in array weir_internal.logs_of_moving(q.name) loop
        execute format('select %s.purge($1, $2)', v_log) into v_count using p_queue, p_group;
        v_sum := v_sum + v_count;
    end loop;
    return v_sum;
end
$$;
create or replace function weir_internal.moving_seek(p_queue text, p_group text, p_position text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    v_logs text[] := weir_internal.logs_of_moving(q.name);
    v_positions text[] := array[p_position, p_position];
    v_there boolean;
begin
    if cardinality(v_logs) = 2 and p_position ~ '^\d{1,18}$' then
        execute format('select (%s.find_job($1, $2)).lane is not null', v_logs[1])
        into v_there using q, p_position::bigint;
        v_positions := case when v_there then array[p_position, 'start'] else array['end', p_position] end;
    end if;
    for i in 1 .. cardinality(v_logs) loop
        execute format('select %s.seek($1, $2, $3)', v_logs[i])
        using p_queue, p_group, v_positions[i + 2 - cardinality(v_logs)];
    end loop;
end
$$;
create or replace function weir_internal.moving_cancel(p_queue text, p_id bigint, p_reason text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    v_logs text[] := weir_internal.logs_of_moving(q.name);
    v_there boolean := false;
    v_state text;
begin
    if cardinality(v_logs) = 2 then
        execute format('select ((%s.find_job($1, $2)).message).id is not null', v_logs[1]) into v_there using q, p_id;
    end if;
    execute format('select %s.cancel($1, $2, $3)', v_logs[case when v_there then 1 else cardinality(v_logs) end])
    into v_state using p_queue, p_id, p_reason;
    return v_state;
end
$$;
