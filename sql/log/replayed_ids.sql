-- weir_log.replayed_ids(q, p)
-- The messages that a group is delivered out of the log when it is moved to a place. Reads the log from there on.
--
-- Parameters:
--   q  the queue
--   p  the place, not the end
-- Returns: their ids; of the record that holds p.id also those before it.
-- Raises: none
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_log.replayed_ids(q weir_internal.queues, p weir_internal.place)
returns int8multirange
language plpgsql
as $$
declare
    v_ids int8multirange;
    v_all int8multirange := '{}';
    v_no bigint;
    t record;
begin
    for v_no in
        select s.no from weir_log.segments s
        where s.no >= p.seg and s.no <= pg_sequence_last_value('weir_log.log_ring')
    loop
        t := weir_log.lock_segment(v_no);
        execute format(
            'select range_agg(case when i is null then int8range(l.id - l.n + 1, l.id + 1) else int8range(i, i + 1) end)
             from %s l left join lateral unnest(l.ids) i on true
             where l.queue_no = $1 and (l.lane between 0 and 15 or l.lane >= $6) and ($2 is null or l.enqueued_at >= $2)
                 and ($3 is null or l.txid > $3 or l.txid = $3 and (l.lane <> $4 or l.id >= $5)) %s',
            t.table_name, t.condition)
        into v_ids
        using q.no, p.since, case when v_no = p.seg then p.txid end, p.lane, p.id, q.key_epochs[1];
        v_all := v_all + coalesce(v_ids, '{}');
    end loop;
    return v_all;
end
$$;
