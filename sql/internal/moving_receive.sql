-- weir_internal.moving_receive(p_queue, p_group, p_max, p_lease), moving_receive_many(p_queue, p_group, p_maxes,
-- p_leases) What receive and receive_many do on a queue that is moving: a group finishes first what the log has that
-- the queue is leaving. A group with an order or limits goes on to the other log only when it holds nothing of the
-- first. Somebody who sent to the first may commit after that was looked at, and another who has seen him may send to
-- the second. So when something was claimed there, the first is looked at again, and the claim is taken back if it is
-- not empty.
--
-- weir_internal.call, and the gates of a queue that is moving, name the functions moving_<verb> in the place of the
-- log's; for verbs for which there is none they name that of the log that the queue is in.
--
-- Parameters: as weir_log.receive and weir_log.receive_many
-- Returns: as those.
-- Raises: as those.
-- Locks: as those.
create or replace function weir_internal.moving_receive(p_queue text, p_group text, p_max int, p_lease interval)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
    v_receive text := 'select %s.receive($1, $2, $3, $4)';
    v_has_left text := format('select %s.has_left($1, $2)', weir_internal.moving_logs(q, 1));
    v_left boolean;
    v_out weir.message_record[];
begin
    if q.moving_from is not null then
        execute format(v_receive, weir_internal.moving_logs(q, 1)) into v_out using p_queue, p_group, p_max, p_lease;
        if cardinality(v_out) > 0 then
            return v_out;
        end if;
        execute v_has_left into v_left using q, p_group;
        if v_left then
            return '{}';
        end if;
    end if;
    begin
        execute format(v_receive, weir_internal.moving_logs(q, 2)) into v_out using p_queue, p_group, p_max, p_lease;
        if q.moving_from is not null and cardinality(v_out) > 0 and exists (
                select from weir_internal.groups g
                where g.queue_no = q.no and g.name = p_group and (g.ordered or g.limited)) then
            execute v_has_left into v_left using q, p_group;
            if v_left then
                raise triggered_action_exception; -- takes the claim back
            end if;
        end if;
    exception
        when triggered_action_exception then
            v_out := '{}';
    end;
    return v_out;
end
$$;
create or replace function weir_internal.moving_receive_many(
    p_queue text, p_group text, p_maxes int[], p_leases interval[])
returns table (messages weir.message_record, requests int[], claim_ids bigint[], counts int[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
    v_receive text := 'select * from %s.receive_many($1, $2, $3, $4)';
    v_records weir.message_record[];
    v_left boolean := false;
begin
    if q.moving_from is not null then
        return query execute format(v_receive, weir_internal.moving_logs(q, 1))
        using p_queue, p_group, p_maxes, p_leases;
        if found then
            return;
        end if;
        execute format('select %s.has_left($1, $2)', weir_internal.moving_logs(q, 1)) into v_left using q, p_group;
    end if;
    if v_left then
        return;
    elsif not exists (select from weir_internal.groups g
                      where g.queue_no = q.no and g.name = p_group and (g.ordered or g.limited)) then
        return query execute format(v_receive, weir_internal.moving_logs(q, 2))
        using p_queue, p_group, p_maxes, p_leases;
        return;
    end if;
    for i in 1 .. cardinality(p_maxes) loop
        v_records := weir_internal.moving_receive(p_queue, p_group, p_maxes[i], p_leases[i]);
        exit when cardinality(v_records) = 0;
        foreach messages in array v_records loop
            requests := array[i];
            claim_ids := array[messages.claim_id];
            counts := array[messages.n];
            return next;
        end loop;
    end loop;
end
$$;
