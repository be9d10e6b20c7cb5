-- weir.revoke_produce(queue_name, role_name)
-- Lets a role send to a queue no longer.
-- The role keeps what it has by being a member of another role.
--
-- Parameters:
--   queue_name  the queue
--   role_name   the role, spelled as in pg_roles; PUBLIC is refused
-- Returns: nothing.
-- Raises: WR001, WR006, WR019
-- Locks: the lock of rights and the queue's administration, until the transaction ends.
create or replace function weir.revoke_produce(queue_name text, role_name text)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select weir_internal.change_right(queue_name, role_name, 'produce', false)
$$;
