-- weir_internal.rates(g, p_sent, p_delivered)
-- How fast a queue's messages are sent and delivered to a group: the counters now, less what they were when maintain
-- last noted them between 5 s and 2 minutes ago. Where there is no such note, both are 0 when nothing has happened
-- since the last one, and else not known.
--
-- Parameters:
--   g            the group
--   p_sent       message ids given out
--   p_delivered  messages delivered to the group
-- Returns: one row: messages a second; null when not known.
-- Raises: none
-- Locks: none
create or replace function weir_internal.rates(
    g weir_internal.groups, p_sent bigint, p_delivered bigint,
    out sent_rate double precision, out delivered_rate double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_age double precision;
    v_sent bigint;
    v_delivered bigint;
begin
    select extract(epoch from v_now - s.at), p_sent - s.sent,
        p_delivered - coalesce((s.delivered ->> g.id::text)::bigint, 0)
    into v_age, v_sent, v_delivered
    from (select *, at between v_now - interval '2 minutes' and v_now - interval '5 seconds' as usable
          from weir_internal.samples where queue_no = g.queue_no) s
    order by s.usable desc, case when s.usable then s.at end, s.at desc limit 1;
    if v_age between 5 and 120 or v_sent = 0 and v_delivered = 0 then
        sent_rate := greatest(0, v_sent) / greatest(v_age, 1);
        delivered_rate := greatest(0, v_delivered) / greatest(v_age, 1);
    end if;
end
$$;
