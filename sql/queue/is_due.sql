-- is_due
-- Template of weir_internal.<q>_is_due: whether `later` holds something that a group may claim: due, or committed after
-- the group passed its time.
--
-- Parameters:
--   g      the group
--   c      its place in `later`: the cursor of its last lane
--   p_now  the time
-- Returns: true or false.
-- Raises: none
-- Locks: ACCESS SHARE on `later`.
insert into weir_internal.templates (name, body) values ('is_due', $template$
create or replace function weir_internal.{q}_is_due(
    g weir_internal.groups, c weir_internal.claim, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ttl_start timestamptz := weir_internal.ttl_start(g); -- what is for this group alone may be older than its since
begin
    return exists (
            select from weir_internal.{q}_later s
            where (s.due_at, s.id) > (c.due_at, c.due_id) and s.due_at <= p_now
                and (s.group_id is null or s.group_id = g.id)
                and s.enqueued_at >= case when s.group_id is null then g.since else v_ttl_start end
                and (g.purged is null or not pg_visible_in_snapshot(s.txid, g.purged)))
        or exists (select from weir_internal.{q}_late(g, c));
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
