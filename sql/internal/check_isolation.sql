-- weir_internal.check_isolation(p_verb)
-- Refuses to work on a fixed snapshot.
--
-- Parameters:
--   p_verb  what was called, for the error
-- Returns: nothing.
-- Raises: WR012
-- Locks: none
create or replace function weir_internal.check_isolation(p_verb text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception '% in a transaction of isolation %', p_verb, current_setting('transaction_isolation')
            using errcode = 'WR012', hint = 'Use READ COMMITTED: a fixed snapshot cannot see what was committed since.';
    end if;
end
$$;
