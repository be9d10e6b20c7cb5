-- weir.dead_letters(queue_name, group_name, max, after)
-- Lists a group's dead letters by id.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 rows at most
--   after       only ids above this: to page on, give the last id of the page before
-- Returns: one row a message; attempts counts its deliveries, reason is what nack or reject was told last.
-- Raises: WR001, WR003, WR006
-- Locks: none
create or replace function weir.dead_letters(
    queue_name text, group_name text default 'default', max int default 100, after bigint default 0)
returns table (
    id bigint, key text, payload jsonb, headers jsonb, enqueued_at timestamptz, attempts int,
    died_at timestamptz, reason text, body bytea, payload_text text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if has_schema_privilege('weir_log', 'usage') then
        return query select * from weir_internal.dead_letters(queue_name, group_name, max, after);
    else
        return query execute 'select * from ' || weir_internal.gate('dead_letters', queue_name) || '($1, $2, $3)'
        using group_name, max, after;
    end if;
end
$$;
