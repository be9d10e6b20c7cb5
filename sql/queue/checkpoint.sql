-- checkpoint
-- Template of weir_internal.<q>_checkpoint: appends a claim of no messages that carries the lane's cursor on, with its
-- low-water mark and next expiry computed anew. The caller holds the lane's lock.
--
-- Parameters:
--   c  the cursor
-- Returns: the id of the row.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
insert into weir_internal.templates (name, body) values ('checkpoint', $template$
create or replace function weir_internal.{q}_checkpoint(c weir_internal.claim)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    c.id := nextval('weir_internal.{q}_claim_ids') * 16384 + c.slot;
    c.n := 0;
    c.ids := null;
    c.src := null;
    c.deadline := null;
    c.attempt := 0;
    select coalesce(min(u.id), c.id), coalesce(min(u.deadline), 'infinity') into c.low, c.next_expiry
    from weir_internal.{q}_unfinished(c.slot, c.low, 'infinity', null) u;
    return weir_internal.{q}_put(c);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
