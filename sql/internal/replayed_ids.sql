-- weir_internal.replayed_ids(q, p)
-- The messages that a group is delivered out of the log when it is moved to a place. Reads the log from there on.
--
-- Parameters:
--   q  the queue
--   p  the place, not the end
-- Returns: their ids; of the record that holds p.id also those before it.
-- Raises: none
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_internal.replayed_ids(q weir_internal.queues, p weir_internal.place)
returns int8multirange
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids int8multirange;
    v_all int8multirange := '{}';
    v_no bigint;
begin
    for v_no in
        select s.no from weir_internal.segments s
        where s.queue_no = q.no and s.freed_by is null and s.no >= p.seg
            and s.no <= pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no))
    loop
        execute format(
            'select range_agg(case when i is null then int8range(l.id - l.n + 1, l.id + 1) else int8range(i, i + 1) end)
             from weir_internal.q%s_log_%s l left join lateral unnest(l.ids) i on true
             where l.lane < $1 and ($2 is null or l.enqueued_at >= $2)
                 and ($3 is null or l.txid > $3 or l.txid = $3 and (l.lane <> $4 or l.id >= $5))', q.no, v_no % 3)
        into v_ids
        using q.lanes, p.since, case when v_no = p.seg then p.txid end, p.lane, p.id;
        v_all := v_all + coalesce(v_ids, '{}');
    end loop;
    return v_all;
end
$$;
