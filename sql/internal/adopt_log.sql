-- weir_internal.adopt_log(q, p_claimed)
-- Copies the records of a queue that came in a dump which are needed yet to <q>_new_log, under the transaction id 1.
-- Records of one transaction must not have ids in between those of another record of their lane, because a position in
-- them is an id; where two senders had taken ids by turns, each message becomes a record.
--
-- Parameters:
--   q          the queue
--   p_claimed  for each lane, from 0 on, up to which message id nothing is needed: every group has claimed it
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on <q>_new_log.
create or replace function weir_internal.adopt_log(q weir_internal.queues, p_claimed bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'with records as (
             select l.*, max(l.id) over before >= l.first_id or lead(l.first_id) over before <= l.id as mixed
             from (select *, coalesce(ids[1], id - n + 1) as first_id
                   from (select * from weir_internal.q%1$s_log_0
                         union all select * from weir_internal.q%1$s_log_1
                         union all select * from weir_internal.q%1$s_log_2) a
                   where lane < $1 and id > $2[lane + 1]) l
             window before as (partition by l.lane order by l.first_id
                               rows between unbounded preceding and 1 preceding))
         insert into weir_internal.q%1$s_new_log
         select ''1'', m.id, m.n, r.lane, null, r.enqueued_at, m.ids, null, null, m.keys, m.headers, m.payloads
         from records r
         cross join lateral (
             select r.id, r.n, r.ids, r.keys, r.headers, r.payloads where r.mixed is not true
             union all
             select coalesce(u.id, r.id - r.n + u.i), 1, null, case when u.key is not null then array[u.key] end,
                 case when u.headers is not null then array[u.headers] end, array[u.payload]
             from unnest(r.ids, r.keys, r.headers, r.payloads) with ordinality as u (id, key, headers, payload, i)
             where r.mixed) m
         order by m.id', q.no)
    using q.lanes, p_claimed;
end
$$;
