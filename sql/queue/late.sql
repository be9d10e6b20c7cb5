-- late
-- Template of weir_internal.<q>_late: rows of `later` that a group's place has passed, written by transactions that
-- were in progress when the place was taken. Those are the ones its snapshot lists and, beyond its xmax, those up to
-- the id that the claiming transaction was given afterwards (the cursor's txid; null when it had one before).
--
-- Parameters:
--   g  the group
--   c  its place in `later`: the cursor of its last lane
-- Returns: rows, each transaction's in order.
-- Raises: none
-- Locks: ACCESS SHARE on `later`.
insert into weir_internal.templates (name, body) values ('late', $template$
create or replace function weir_internal.{q}_late(g weir_internal.groups, c weir_internal.claim)
returns setof weir_internal.later_row
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_xmax xid8 := pg_snapshot_xmax(c.cur);
    v_ttl_start timestamptz := weir_internal.ttl_start(g); -- what is for this group alone may be older than its since
begin
    if c.due_at = '-infinity' or c.txid <= v_xmax and pg_snapshot_xmin(c.cur) = v_xmax then
        return;
    end if;
    return query
    select s.*
    from (
        select pg_snapshot_xip(c.cur) as id
        union all
        select i::text::xid8 from generate_series(v_xmax::text::bigint, c.txid::text::bigint - 1) i
    ) x
    cross join lateral (
        select * from weir_internal.{q}_later t
        where t.txid = x.id and (t.due_at, t.id) <= (c.due_at, c.due_id)
            and (t.group_id is null or t.group_id = g.id)
            and t.enqueued_at >= case when t.group_id is null then g.since else v_ttl_start end
        order by t.due_at, t.id) s;
    if c.txid is null then
        return query
        select * from weir_internal.{q}_later t
        where t.txid >= v_xmax and (t.due_at, t.id) <= (c.due_at, c.due_id)
            and (t.group_id is null or t.group_id = g.id)
            and t.enqueued_at >= case when t.group_id is null then g.since else v_ttl_start end;
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
