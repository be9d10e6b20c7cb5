-- weir_internal.claims(queue_name, group_name, max, after)
-- Lists a group's claims that are not finished: see weir.claims.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
--   after       only claims above this
-- Returns: one row a claim, the oldest first.
-- Raises: WR001, WR003, WR006, WR012, WR016
-- Locks: ACCESS SHARE on the claim log and on segments.
create or replace function weir_internal.claims(queue_name text, group_name text, max int, after bigint)
returns setof weir.claim_status
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.find_group(q, group_name);
begin
    perform weir_internal.check_isolation('claims');
    if max is null or max not between 1 and 1000 or after is null or after = 9223372036854775807 then
        raise exception 'max % or after % is out of range', coalesce(max::text, 'null'), coalesce(after::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 claims, after one (0 = from the oldest).';
    end if;
    return query execute format(
        'select (u.c).id, (u.c).n, f.id, coalesce(m.attempts, 0) + (u.c).attempt, (u.c).claimed_at,
             nullif((u.c).deadline, ''-infinity''), s.pid, a.application_name, a.usename::text
         from (select c from generate_series($3, $4) l
               cross join lateral weir_internal.q%1$s_cursor(l::smallint) k
               cross join lateral weir_internal.q%1$s_unfinished(k.slot, greatest(k.low, $5 + 1), ''infinity'', $6) c
               order by c.id limit $6) u
         cross join lateral (select lower((u.c).ids) as id) f
         left join lateral (
             select t.attempts from weir_internal.claim_messages($1, u.c, int8multirange(int8range(f.id, f.id + 1))) t
             limit 1) m on true
         cross join lateral (select case when (u.c).deadline > ''-infinity'' then (u.c).pid end as pid) s
         left join pg_stat_activity a on a.pid = s.pid and a.datname = current_database()
             -- else another session has the number by now; when one began is not for everybody to see
             and coalesce(a.backend_start, pg_postmaster_start_time()) <= (u.c).claimed_at
         order by (u.c).id', q.no)
    using q, g, g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes, after, max;
end
$$;
