-- weir_internal.adopt_lanes(q, g)
-- How far a group has claimed each lane of a queue that came in a dump. Snapshots say it, also another cluster's:
-- whether a transaction is visible in one is arithmetic. A record of a transaction that committed late may be unclaimed
-- below others that are claimed; its messages are put aside for the group.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: for each lane, from 0 on, the highest message id that was claimed; 0 when none was.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked` or <q>_new_later.
create or replace function weir_internal.adopt_lanes(q weir_internal.queues, g weir_internal.groups)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_positions bigint[];
    v_lane int;
    v_messages weir_internal.later_row[];
begin
    select array_agg(coalesce(p.after, 0) order by l) into v_positions
    from generate_series(0, q.lanes - 1) l
    left join (select r.lane, max(r.after) as after from weir_internal.claimed_records(q, g) r group by r.lane) p
        on p.lane = l;
    for v_lane, v_messages in execute format(
        'select r.lane, array_agg(row(null, null, m.id, null, 0, u.key, u.payload, u.headers, l.enqueued_at, null)
                                  ::weir_internal.later_row order by m.id)
         from weir_internal.claimed_records($1, $2) r
         join (select 0 as no, ctid as row, * from weir_internal.q%1$s_log_0
               union all select 1, ctid, * from weir_internal.q%1$s_log_1
               union all select 2, ctid, * from weir_internal.q%1$s_log_2) l on l.no = r.table_no and l.row = r.row
         cross join lateral unnest(l.ids, l.keys, l.payloads, l.headers)
             with ordinality as u (id, key, payload, headers, i)
         cross join lateral (select coalesce(u.id, l.id - l.n + u.i) as id) m
         where r.after < r.last_id and r.first_id <= $3[r.lane + 1]
             and m.id > r.after and m.id <= $3[r.lane + 1]
         group by r.lane', q.no)
        using q, g, v_positions
    loop
        perform weir_internal.adopt_messages(q, g, v_lane, v_messages);
    end loop;
    return v_positions;
end
$$;
