-- weir_internal.get(queue_name, p_ids)
-- Shows messages, wherever in the queue they are, and how each group stands to them. The log is read once for all.
--
-- Parameters:
--   queue_name  the queue
--   p_ids       the messages, 1 to 1,000
-- Returns: one row a message that the queue holds, in the order of p_ids; see weir.get.
-- Raises: WR001, WR006, WR012
-- Locks: none
create or replace function weir_internal.get(queue_name text, p_ids bigint[])
returns setof weir.stored_message
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
    o weir.stored_message;
    v_records weir_internal.log_record[]; -- of the log, one for each message in it
    v_tables int[];                       -- the table of the ring that each stands in
    v_of bigint[];                        -- which message each was found for
    v_at int[];                           -- those of one message
    v_state text;
begin
    perform weir_internal.check_isolation('get');
    if p_ids is null or cardinality(p_ids) not between 1 and 1000 or array_position(p_ids, null) is not null then
        raise exception 'get of % messages of queue "%", or of null', coalesce(cardinality(p_ids), 0), queue_name
            using errcode = 'WR006', hint = 'Give 1 to 1,000 ids that send returned.';
    end if;
    execute (
        select 'select array_agg(t.r), array_agg(t.k), array_agg(m.id) from (' || string_agg(format(
                   'select %2$s as k, row(l.*)::weir_internal.log_record as r
                    from weir_internal.q%1$s_log_%2$s l
                    where l.ids && $1 or l.ids is null and $2 && int8range(l.id - l.n + 1, l.id, ''[]'')', q.no, k),
                   ' union all ')
               || ') t cross join lateral (
                      select distinct i as id from unnest($1) i
                      where i = any((t.r).ids)
                          or (t.r).ids is null and i between (t.r).id - (t.r).n + 1 and (t.r).id) m'
        from generate_series(0, 2) k)
    into v_records, v_tables, v_of
    using p_ids, (select range_agg(int8range(i, i, '[]')) from unnest(p_ids) i where i < 9223372036854775807);
    for o in execute format(
        'select b.id, b.key, b.payload, b.headers, b.enqueued_at, ''{}''::jsonb
         from unnest($1) with ordinality w (id, i)
         cross join lateral (
             select w.id, r.keys[m.i] as key, r.payloads[m.i] as payload, r.headers[m.i] as headers,
                 coalesce(r.enqueued_times[m.i], r.enqueued_at) as enqueued_at
             from generate_subscripts($3, 1) s
             cross join lateral (select (($2)[s]).*) r
             cross join lateral (select coalesce(array_position(r.ids, w.id), w.id - r.id + r.n) as i) m
             where ($3)[s] = w.id
             union all
             select l.id, l.key, l.payload, l.headers, l.enqueued_at
             from weir_internal.q%1$s_later l where l.id = w.id
             union all
             select p.id, p.key, p.payload, p.headers, p.enqueued_at
             from weir_internal.q%1$s_parked p where p.id = w.id
             union all
             select m.id, m.key, m.payload, m.headers, m.enqueued_at
             from weir_internal.lined_up(%1$s, null, w.id) m
             union all
             select d.id, d.key, d.payload, d.headers, d.enqueued_at
             from weir_internal.dead_letters d where d.queue_no = %1$s and d.id = w.id
             limit 1
         ) b order by w.i', q.no)
        using p_ids, v_records, v_of
    loop
        v_at := array(select i from generate_subscripts(v_of, 1) i where v_of[i] = o.id);
        for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.name loop
            g := weir_internal.apply_ttl(g);
            v_state := weir_internal.state_of(q, g, o.id, array(select v_records[i] from unnest(v_at) i),
                array(select v_tables[i] from unnest(v_at) i));
            continue when o.enqueued_at < g.since and v_state in ('waiting', 'done'); -- not for it
            o.states := o.states || jsonb_build_object(g.name, v_state);
        end loop;
        return next o;
    end loop;
end
$$;
