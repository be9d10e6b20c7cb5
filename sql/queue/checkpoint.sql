-- checkpoint
-- Template of weir_internal.<q>_checkpoint: appends a claim of no messages that carries the lane's cursor on. Its
-- low-water mark moves over what is finished. Its next expiry is computed anew, for which all that is unfinished is
-- walked, only when that may move it: when the time has come and the oldest claim is not what it is still due for. The
-- caller holds the lane's lock.
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
declare
    u weir_internal.claim; -- the oldest that is unfinished
    v_now timestamptz := weir_internal.clock();
begin
    c.id := nextval('weir_internal.{q}_claim_ids') * 16384 + c.slot;
    c.n := 0;
    c.ids := null;
    c.src := null;
    c.deadline := null;
    c.attempt := 0;
    select * into u from weir_internal.{q}_unfinished(c.slot, c.low, 'infinity', 1);
    c.low := coalesce(u.id, c.id);
    if u.id is null then
        c.next_expiry := 'infinity';
    elsif c.next_expiry <= v_now and u.deadline > v_now then
        c.next_expiry := (select min(e.deadline) from weir_internal.{q}_unfinished(c.slot, c.low, 'infinity', null) e);
    end if;
    return weir_internal.{q}_put(c);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
