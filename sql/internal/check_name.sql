-- weir_internal.check_name(p_what, p_name)
-- Refuses a name that a queue or group cannot have.
--
-- Parameters:
--   p_what  'queue' or 'group', for the error
--   p_name  1 to 47 of a-z, 0-9, _, - and ., beginning with a letter or digit
-- Returns: nothing.
-- Raises: WR005
-- Locks: none
create or replace function weir_internal.check_name(p_what text, p_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_name is null or length(p_name) > 47 or p_name !~ '^[a-z0-9][a-z0-9_.-]*$' then
        raise exception '% name % is not valid', p_what, coalesce(quote_literal(left(p_name, 100)), 'null')
            using errcode = 'WR005',
            hint = 'Use 1 to 47 characters of a-z, 0-9, "_", "-" and ".", the first a letter or a digit.';
    end if;
end
$$;
