-- admin
-- Template of weir_internal."admin:<queue>": EXECUTE on it is the right to administer the queue.
--
-- Parameters:
--   p_verb  what to do, see weir_internal.administer
--   p_args  its arguments by name
-- Returns: what it counts; null when it counts nothing.
-- Raises: what the verb raises
-- Locks: what the verb locks
insert into weir_internal.templates (name, body) values ('admin', $template$
create or replace function weir_internal."admin:{name}"(p_verb text, p_args jsonb)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    return weir_internal.administer('{name}', p_verb, p_args);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
