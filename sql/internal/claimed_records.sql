-- weir_internal.claimed_records(q, g)
-- What a group has claimed of the records in the log that are for it. It does not look at the rings' states and does
-- without the cursor of a lane that has none, in which case nothing was claimed.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: one row a record, whose messages up to the id `after` are claimed.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_internal.claimed_records(q weir_internal.queues, g weir_internal.groups)
returns table (table_no int, "row" tid, lane smallint, first_id bigint, last_id bigint, after bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    -- see weir_internal.waiting_records for what a cursor has passed
    return query execute format(
        'with cursors as materialized (
             select l as lane, c.* from generate_series(0, $2 - 1) l
             cross join lateral (select * from weir_internal.q%1$s_claims_2
                                 where slot = $3 * ($2 + 1) + l and what = 0 order by id desc limit 1) c)
         select r.no, r.row, r.lane, coalesce(r.ids[1], r.id - r.n + 1), r.id,
             case when pg_visible_in_snapshot(r.txid, c.prev) or pg_visible_in_snapshot(r.txid, c.cur)
                      and (c.finished or s.no < c.seg or s.no = c.seg and (r.txid, r.id) <= (c.txid, c.pos)) then r.id
                  when not c.finished and s.no = c.seg and r.txid = c.txid then c.pos
                  else 0 end
         from (select 0 as no, ctid as row, txid, id, n, lane, ids, enqueued_at from weir_internal.q%1$s_log_0
               union all select 1, ctid, txid, id, n, lane, ids, enqueued_at from weir_internal.q%1$s_log_1
               union all select 2, ctid, txid, id, n, lane, ids, enqueued_at from weir_internal.q%1$s_log_2) r
         join weir_internal.segments s on s.queue_no = $1 and s.no %% 3 = r.no
         left join cursors c on c.lane = r.lane
         where r.lane < $2 and r.enqueued_at >= $4', q.no)
    using q.no, q.lanes, g.no, g.since;
end
$$;
