-- weir_internal.get(queue_name, id)
-- Shows one message, wherever in the queue it is, and how each group stands to it.
--
-- Parameters:
--   queue_name  the queue
--   id          the message
-- Returns: one row, or none when the queue does not hold the message; see weir.get.
-- Raises: WR001, WR006, WR012
-- Locks: none
create or replace function weir_internal.get(queue_name text, id bigint)
returns setof weir.stored_message
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
    o weir.stored_message;
    v_records weir_internal.log_record[]; -- of the log, with the message in them
    v_tables int[];                       -- the table of the ring that each stands in
    v_state text;
begin
    perform weir_internal.check_isolation('get');
    if id is null then
        raise exception 'the id of a message of queue "%" is null', queue_name
            using errcode = 'WR006', hint = 'Give an id that send returned.';
    end if;
    execute (
        select 'select array_agg(t.r), array_agg(t.k) from (' || string_agg(format(
                   'select %2$s as k, row(l.*)::weir_internal.log_record as r
                    from weir_internal.q%1$s_log_%2$s l
                    where l.id >= $1 and (l.ids is null and l.id - l.n < $1 or $1 = any(l.ids))', q.no, k),
                   ' union all ') || ') t'
        from generate_series(0, 2) k)
    into v_records, v_tables using id;
    execute format(
        'select u.* from (
             select r.keys[m.i], r.payloads[m.i], r.headers[m.i], coalesce(r.enqueued_times[m.i], r.enqueued_at)
             from unnest($2) r
             cross join lateral (select coalesce(array_position(r.ids, $1), $1 - r.id + r.n) as i) m
             union all
             select l.key, l.payload, l.headers, l.enqueued_at from weir_internal.q%1$s_later l where l.id = $1
             union all
             select p.key, p.payload, p.headers, p.enqueued_at from weir_internal.q%1$s_parked p where p.id = $1
             union all
             select d.key, d.payload, d.headers, d.enqueued_at from weir_internal.dead_letters d
             where d.queue_no = %1$s and d.id = $1) u
         limit 1', q.no)
    into o.key, o.payload, o.headers, o.enqueued_at using id, v_records;
    if o.payload is null then
        return;
    end if;
    o.id := id;
    o.states := '{}';
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.name loop
        g := weir_internal.apply_ttl(g);
        v_state := weir_internal.state_of(q, g, id, v_records, v_tables);
        continue when o.enqueued_at < g.since and v_state in ('waiting', 'done'); -- not for it
        o.states := o.states || jsonb_build_object(g.name, v_state);
    end loop;
    return next o;
end
$$;
