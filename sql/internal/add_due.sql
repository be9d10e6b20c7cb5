-- weir_internal.add_due(r, l, p_group)
-- Adds a message from `later` to a record that is being built.
--
-- Parameters:
--   r        the record
--   l        the message
--   p_group  id of the group the record is for
-- Returns: the record.
-- Raises: none
-- Locks: none
create or replace function weir_internal.add_due(
    r weir_internal.log_record, l weir_internal.later_row, p_group int)
returns weir_internal.log_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    r.group_id := p_group;
    r.ids := r.ids || l.id;
    r.attempts := r.attempts || l.attempts;
    r.enqueued_times := r.enqueued_times || l.enqueued_at;
    r.keys := r.keys || l.key;
    r.headers := r.headers || l.headers;
    r.payloads := r.payloads || l.payload;
    return r;
end
$$;
