-- weir.redrive(queue_name, group_name, ids)
-- Sends dead letters back to their own group, their attempts counted from zero. At most 10,000 a call: call again until
-- it returns 0. What is past the queue's ttl would not be delivered, and stays among the dead letters.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   ids         which; null = all
-- Returns: how many were sent back.
-- Raises: WR001, WR003, WR006, WR017
-- Locks: the dead letters' rows and ROW EXCLUSIVE on `delayed`, until the transaction ends.
create or replace function weir.redrive(queue_name text, group_name text default 'default', ids bigint[] default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_internal.ask_admin(queue_name, 'redrive', jsonb_build_object('group_name', group_name, 'ids', ids));
end
$$;
