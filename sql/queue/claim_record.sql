-- claim_record
-- Template of weir_internal.<q>_claim_record: puts a record that only one claim will refer to into the log, in the lane
-- after the last, and claims it. The caller holds the lock of that lane.
--
-- Parameters:
--   c        the last lane's cursor, as it shall be stored
--   r        the messages
--   p_lease  how long they are the caller's
-- Returns: the record as delivered.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open segment and the claim log.
insert into weir_internal.templates (name, body) values ('claim_record', $template$
create or replace function weir_internal.{q}_claim_record(
    c weir_internal.claim, r weir_internal.log_record, p_lease interval)
returns weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_seg bigint;
begin
    c.id := nextval('weir_internal.{q}_claim_ids') * 16384 + c.slot;
    r.txid := pg_current_xact_id();
    r.n := cardinality(r.payloads);
    r.id := (select max(i) from unnest(r.ids) i);
    r.lane := {lanes};
    v_seg := weir_internal.{q}_append(r);
    c.src := row(null, null, v_seg, r.txid, 0, r.txid, r.id);
    c.ids := (select range_agg(int8range(i, i + 1)) from unnest(r.ids) i);
    c.n := r.n;
    c.total := coalesce(c.total, 0) + r.n;
    c.attempt := 1;
    c.claimed_at := weir_internal.clock();
    c.deadline := c.claimed_at + p_lease;
    c.pid := pg_backend_pid();
    c.next_expiry := least(c.next_expiry, c.deadline);
    if (c.id >> 14) % 16 = 0 then
        c.low := weir_internal.{q}_low(c.slot, c.low, c.id);
    end if;
    c.id := weir_internal.{q}_put(c);
    return weir_internal.slice(r, c.id, 0, r.n);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
