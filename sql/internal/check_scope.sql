-- weir_internal.check_scope(p_queues, p_verbs)
-- Refuses what a token cannot be limited to.
--
-- Parameters:
--   p_queues  1 to 100 patterns of queue names: a-z, 0-9, _, -, . and *, which stands for any characters
--   p_verbs   at least one of produce, consume, admin, read
-- Returns: nothing.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.check_scope(p_queues text[], p_verbs text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_wrong text;
begin
    if coalesce(cardinality(p_queues), 0) not between 1 and 100 then
        raise exception 'a token has 1 to 100 patterns of queues, not %', coalesce(cardinality(p_queues), 0)
            using errcode = 'WR006', hint = 'The pattern * stands for all queues.';
    end if;
    select coalesce(quote_literal(left(u.q, 100)), 'null') into v_wrong
    from unnest(p_queues) u (q) where (u.q ~ '^[a-z0-9_.*-]{1,100}$') is not true limit 1;
    if found then
        raise exception 'pattern of queues % is not valid', v_wrong
            using errcode = 'WR006',
            hint = 'Use 1 to 100 characters of a-z, 0-9, "_", "-", "." and "*", which stands for any characters.';
    end if;
    if coalesce(cardinality(p_verbs), 0) = 0 then
        raise exception 'a token that allows nothing is of no use'
            using errcode = 'WR006', hint = 'Allow some of produce, consume, admin and read.';
    end if;
    select coalesce(quote_literal(left(u.v, 100)), 'null') into v_wrong
    from unnest(p_verbs) u (v) where (u.v in ('produce', 'consume', 'admin', 'read')) is not true limit 1;
    if found then
        raise exception '% is nothing that a token can allow', v_wrong
            using errcode = 'WR006', hint = 'Allow some of produce, consume, admin and read.';
    end if;
end
$$;
