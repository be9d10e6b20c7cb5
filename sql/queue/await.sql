-- await
-- Template of weir_internal.<q>_await: waits until nobody who noted one of some dedup keys is in progress any more. It
-- notes them itself, which waits, and takes that back at once: the table must not get one more writer, or it could not
-- be sealed for as long as there are senders.
--
-- Parameters:
--   p_keys   digests, ascending
--   p_table  number of the table
-- Returns: nothing.
-- Raises: 40001 where a fixed snapshot hides a row of one of the keys; 40P01
-- Locks: ROW EXCLUSIVE on the table, until it returns.
insert into weir_internal.templates (name, body) values ('await', $template$
create or replace function weir_internal.{q}_await(p_keys uuid[], p_table int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    --{ 2
    {if} p_table = {k} then
        insert into weir_internal.{q}_dedup_{k} (key, id, at)
        select u.key, 0, '-infinity' from unnest(p_keys) as u (key)
        on conflict (key) do nothing;
    --}
    end if;
    raise exception 'waited' using errcode = 'raise_exception';
exception
    when raise_exception then
        null;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
