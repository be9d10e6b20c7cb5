-- weir_internal.moving_get(p_queue, p_ids), moving_peek(p_queue, p_group, p_max), moving_claims(...),
-- moving_parked_keys(...), moving_delayed(...), moving_cancelled(p_queue, p_claims), moving_mark_waiting(p_queue),
-- weir_internal.logs_of_moving(p_queue)
-- What the functions of a log of the same names do, on a queue that is moving: in both of its logs. Of delayed messages
-- those of the log that it is leaving come first. A log tells of a message that stands in the other only if that is a
-- dead letter, and then nothing else.
--
-- Parameters: as those
--   p_queue, p_group         names of the queue and the group
--   p_ids, p_claims          messages, claims
--   p_max                    at most so many
--   p_after, p_after_lane    only what comes after
-- Returns: as those; logs_of_moving: the schemas of the two logs, or of one when the queue has moved meanwhile.
-- Raises: as those.
-- Locks: as those.
create or replace function weir_internal.moving_get(p_queue text, p_ids bigint[])
returns setof weir.stored_message
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_log text;
    v_found weir.stored_message[];
    v_all weir.stored_message[] := '{}';
begin
    foreach v_log in array weir_internal.logs_of_moving(p_queue) loop
        execute format('select array(select s from %s.get($1, $2) s)', v_log) into v_found using p_queue, p_ids;
        v_all := v_all || v_found;
    end loop;
    return query
    select m.* from unnest(p_ids) with ordinality u (id, i)
    cross join lateral (
        select s.* from unnest(v_all) with ordinality s (id, key, payload, headers, enqueued_at, states, details, body,
            payload_text, place)
        where s.id = u.id
        order by (select count(*) from jsonb_each_text(s.states) e where e.value not in ('done', 'dead')) desc, s.place
        limit 1) b
    cross join lateral (
        select b.id, b.key, b.payload, b.headers, b.enqueued_at, b.states, b.details, b.body, b.payload_text) m
    order by u.i;
end
$$;
create or replace function weir_internal.moving_peek(p_queue text, p_group text, p_max int)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_found weir.message_record[];
begin
    execute (
        select 'select ' || string_agg(format('%s.peek($1, $2, $3)', l), ' || ')
        from unnest(weir_internal.logs_of_moving(p_queue)) l)
    into v_found using p_queue, p_group, p_max;
    return array(select o from unnest(v_found) o order by o.first_id limit p_max);
end
$$;
create or replace function weir_internal.moving_claims(p_queue text, p_group text, p_max int, p_after bigint)
returns setof weir.claim_status
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute (
        select string_agg(format('select * from %s.claims($1, $2, $3, $4)', l), ' union all ')
            || ' order by claim_id limit $3'
        from unnest(weir_internal.logs_of_moving(p_queue)) l)
    using p_queue, p_group, p_max, p_after;
end
$$;
create or replace function weir_internal.moving_parked_keys(
    p_queue text, p_group text, p_max int, p_after text, p_after_lane int)
returns setof weir.parked_key
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute (
        select 'select * from ('
            || string_agg(format('select * from %s.parked_keys($1, $2, $3, $4, $5)', l), ' union all ')
            || ') k order by coalesce(''k'' || key, ''l'' || lane) limit $3'
        from unnest(weir_internal.logs_of_moving(p_queue)) l)
    using p_queue, p_group, p_max, p_after, p_after_lane;
end
$$;
create or replace function weir_internal.moving_delayed(p_queue text, p_group text, p_max int, p_after bigint)
returns setof weir.delayed_message
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_logs text[] := weir_internal.logs_of_moving(p_queue);
    v_here boolean;
    v_count int := 0;
begin
    if cardinality(v_logs) = 2 and p_after > 0 then -- the page before may have ended in the second
        execute format('select exists (select from %s.delayed d where d.id = $1)', v_logs[2]) into v_here using p_after;
        v_logs := case when v_here then v_logs[2:2] else v_logs end;
    end if;
    for i in 1 .. cardinality(v_logs) loop
        return query execute format('select * from %s.delayed($1, $2, $3, $4) limit $5', v_logs[i])
        using p_queue, p_group, p_max, case i when 1 then p_after else 0 end, p_max - v_count;
        get diagnostics v_count = row_count;
    end loop;
end
$$;
create or replace function weir_internal.moving_cancelled(p_queue text, p_claims bigint[])
returns table (claim_id bigint, id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_log text;
begin
    foreach v_log in array weir_internal.logs_of_moving(p_queue) loop
        return query execute format('select * from %s.cancelled($1, $2)', v_log) using p_queue, p_claims;
    end loop;
end
$$;
create or replace function weir_internal.moving_mark_waiting(p_queue text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_log text;
    v_channel text;
begin
    foreach v_log in array weir_internal.logs_of_moving(p_queue) loop
        execute format('select %s.mark_waiting($1)', v_log) into v_channel using p_queue;
    end loop;
    return v_channel;
end
$$;
create or replace function weir_internal.logs_of_moving(p_queue text)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
begin
    return array_remove(array[weir_internal.moving_logs(q, 1), weir_internal.moving_logs(q, 2)], null);
end
$$;
