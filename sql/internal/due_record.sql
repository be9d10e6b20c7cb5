-- weir_internal.due_record(p_rows, p_group)
-- The record of messages that have become due.
--
-- Parameters:
--   p_rows   what stood in `later`, a row at least, in the order in which it is to be received
--   p_group  id of the group the record is for
-- Returns: the record.
-- Raises: none
-- Locks: none
create or replace function weir_internal.due_record(p_rows weir_internal.later_row[], p_group int)
returns weir_internal.log_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    r weir_internal.log_record;
begin
    r.group_id := p_group;
    select array_agg(l.id order by l.i), array_agg(l.attempts order by l.i), array_agg(l.enqueued_at order by l.i),
        array_agg(l.key order by l.i), array_agg(l.headers order by l.i), array_agg(l.payload order by l.i)
    into r.ids, r.attempts, r.enqueued_times, r.keys, r.headers, r.payloads
    from unnest(p_rows) with ordinality
        l (txid, due_at, id, group_id, attempts, key, payload, headers, enqueued_at, reason, i);
    return r;
end
$$;
