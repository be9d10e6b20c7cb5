-- weir_internal.start_time(p_start)
-- From which time on a group is delivered messages.
--
-- Parameters:
--   p_start  'start', 'end' or a timestamp
-- Returns: the timestamp, or -infinity.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.start_time(p_start text)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_since timestamptz;
begin
    if p_start in ('start', 'end') then
        return '-infinity';
    end if;
    begin
        v_since := p_start;
    exception
        when data_exception then
            v_since := null;
    end;
    if v_since is null then
        raise exception '% is not a place in a queue', coalesce(quote_literal(p_start), 'null')
            using errcode = 'WR006',
            hint = 'Give ''start'', ''end'' or a time, ''2030-01-31 12:00+00''; seek also takes a message''s id.';
    end if;
    return v_since;
end
$$;
