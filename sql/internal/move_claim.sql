-- weir_internal.move_claim(q, u)
-- Copies the messages of an unfinished claim into the open segment. The claim keeps its id, deadline and attempt; a row
-- of what = 1 tells where its messages are now. The caller holds the claim's lock.
--
-- Parameters:
--   q  the queue
--   u  the claim, with the ids that are left of it
-- Returns: nothing.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on the open segment and the claim log.
create or replace function weir_internal.move_claim(q weir_internal.queues, u weir_internal.claim)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    d weir_internal.claim;
    r weir_internal.log_record;
    v_seg bigint;
begin
    select array_agg(m.id), array_agg(m.key), array_agg(m.payload), array_agg(m.headers),
        array_agg(m.enqueued_at), array_agg(m.attempts), count(*), max(m.id)
    into r.ids, r.keys, r.payloads, r.headers, r.enqueued_times, r.attempts, r.n, r.id
    from weir_internal.claim_messages(q, u, u.ids) m;
    if r.n <> weir_internal.count_ids(u.ids) then
        perform weir_internal.fail_missing(q.name, u.id, u.ids);
    end if;
    r.lane := q.lanes;
    r.group_id := (select id from weir_internal.groups where queue_no = q.no and no = u.slot / (q.lanes + 1));
    execute format('select weir_internal.q%s_append($1)', q.no) into v_seg using r;
    d.slot := u.slot;
    d.what := 1;
    d.id := u.id;
    d.src := row(null, null, v_seg, pg_current_xact_id(), 0, pg_current_xact_id(), r.id);
    execute format('select weir_internal.q%s_put($1)', q.no) using d;
end
$$;
