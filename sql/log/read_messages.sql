-- weir_log.read_messages(q, p_ids, p_now), weir_log.find_messages(q, p_ids)
-- What weir_log.get reads. Both are stable, so that they read in the snapshot of the statement that calls them.
--
-- Parameters:
--   q      the queue
--   p_ids  messages
--   p_now  the time
-- Returns: read_messages: one row a message that the queue holds, in the order of p_ids. find_messages: where in the
-- log they stand, claimed or not; what was put aside for one claim comes last.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.read_messages(q weir_internal.queues, p_ids bigint[], p_now timestamptz)
returns setof weir.stored_message
language plpgsql stable
as $$
declare
    v_base weir_internal.claim := weir_log.base();
    v_found weir_internal.found_record[] := weir_log.find_messages(q, p_ids);
begin
    return query
    with groups as materialized (
        select weir_internal.apply_ttl(w) as g from weir_internal.groups w where w.queue_no = q.no),
    states as materialized (
        select (k.g).no as group_no, s.*, case s.state when 'claimed' then 1 when 'parked' then 2 else 4 end as rank
        from groups k cross join lateral weir_log.group_states(q, k.g, v_base, v_found, p_ids, p_now) s
        union all
        select d.group_no, d.id, 'dead', null, d.attempts, d.died_at, null, null, null, d.reason, 3
        from groups k join weir_internal.dead_letters d on d.group_no = (k.g).no and d.id = any(p_ids))
    select b.id, b.key, j.payload, b.headers, b.enqueued_at, coalesce(m.states, '{}'), coalesce(m.details, '{}'),
        coalesce(b.body, case when j.payload is null then convert_to(b.payload, 'UTF8') end), b.payload
    from unnest(p_ids) with ordinality w (id, i)
    cross join lateral (
        (select f.id, f.key, f.payload, f.headers, f.enqueued_at, f.body
         from unnest(v_found) f where f.id = w.id limit 1)
        union all
        (select l.id, l.key, l.payload, l.headers, l.enqueued_at, l.body
         from weir_log.delayed l where l.id = w.id and l.queue_no = q.no limit 1)
        union all
        (select p.id, p.key, p.payload, p.headers, p.enqueued_at, p.body
         from groups k join weir_log.parked p on p.group_no = (k.g).no and p.id = w.id limit 1)
        union all
        (select n.id, n.key, n.payload, n.headers, n.enqueued_at, n.body
         from weir_log.in_key_queues n where n.id = w.id and n.queue_no = q.no limit 1)
        union all
        (select d.id, d.key, d.payload, d.headers, d.enqueued_at, d.body
         from groups k join weir_internal.dead_letters d on d.group_no = (k.g).no and d.id = w.id limit 1)
        limit 1) b
    cross join lateral (select weir_internal.jsonb_of(b.payload) as payload) j
    cross join lateral (
        select jsonb_object_agg((k.g).name, coalesce(s.state, 'done')) as states,
            jsonb_object_agg((k.g).name, jsonb_strip_nulls(jsonb_build_object(
                'attempts', s.attempts, 'claim_id', s.claim, 'since', s.since, 'until', s.until, 'pid', s.pid,
                'behind', s.behind, 'reason', s.reason))) as details
        from groups k
        left join lateral (
            select * from states t
            where t.group_no = (k.g).no and t.id = w.id order by t.rank, t.state limit 1) s on true
        where b.enqueued_at >= (k.g).since or s.state is not null) m
    order by w.i;
end
$$;
create or replace function weir_log.find_messages(q weir_internal.queues, p_ids bigint[])
returns weir_internal.found_record[]
language plpgsql stable
as $$
declare
    v_last bigint := least((select max(i) from unnest(p_ids) i), 9000000000000000000)
        + 10000000; -- a record that has messages of several numbers has the id of its last
    v_first bigint := (select min(i) from unnest(p_ids) i);
    v_lanes int[] := weir_log.lanes_of(q);
    v_out weir_internal.found_record[] := '{}';
begin
    for i in 1 .. 2 loop
        v_out := v_out || weir_log.find_messages_0(q.no, v_lanes, p_ids, v_first, v_last)
            || weir_log.find_messages_1(q.no, v_lanes, p_ids, v_first, v_last)
            || weir_log.find_messages_2(q.no, v_lanes, p_ids, v_first, v_last)
            || weir_log.find_messages_3(q.no, v_lanes, p_ids, v_first, v_last);
        v_lanes := '{-1}';
        v_first := 0;
        v_last := 9223372036854775807;
    end loop;
    return v_out;
end
$$;
