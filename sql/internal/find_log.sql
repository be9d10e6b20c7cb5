-- weir_internal.find_log(p_log)
-- A log by its name.
--
-- Parameters:
--   p_log  name of the log
-- Returns: its row.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.find_log(p_log text)
returns weir_internal.logs
language plpgsql
as $$
declare
    l weir_internal.logs;
begin
    select * into l from weir_internal.logs where name = p_log;
    if not found then
        raise exception 'there is no log %', coalesce('"' || left(p_log, 100) || '"', 'null')
            using errcode = 'WR006', hint = 'weir.list_logs() tells which there are; weir.create_log makes one.';
    end if;
    return l;
end
$$;
