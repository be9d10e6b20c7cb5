-- weir_internal.take_sample(q)
-- Notes a queue's counters, in place of the older of two notes, unless the newer is young or nothing has happened
-- since.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: WR016
-- Locks: none; the caller holds the lock for administration of the queue.
create or replace function weir_internal.take_sample(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s weir_internal.samples;
    v_now timestamptz := weir_internal.clock();
    v_sent bigint := coalesce(pg_sequence_last_value(format('weir_internal.q%s_ids', q.no)), 0);
    v_claims bigint := coalesce(pg_sequence_last_value(format('weir_internal.q%s_claim_ids', q.no)), 0);
    v_delivered jsonb;
begin
    select * into s from weir_internal.samples where queue_no = q.no order by at desc limit 1;
    if s.at between v_now - interval '30 seconds' and v_now or s.sent = v_sent and s.claims = v_claims then
        return;
    end if;
    execute format(
        'select coalesce(jsonb_object_agg(d.id, d.delivered), ''{}'')
         from (select g.id, sum(c.total) as delivered
               from weir_internal.groups g cross join generate_series(0, $2) l
               cross join lateral weir_internal.q%s_cursor((g.no * ($2 + 1) + l)::smallint) c
               where g.queue_no = $1 group by g.id) d', q.no)
    into v_delivered using q.no, q.lanes;
    insert into weir_internal.samples (queue_no, no, at, sent, claims, delivered)
    values (q.no, coalesce(1 - s.no, 0), v_now, v_sent, v_claims, v_delivered)
    on conflict (queue_no, no) do update
    set at = excluded.at, sent = excluded.sent, claims = excluded.claims, delivered = excluded.delivered;
end
$$;
