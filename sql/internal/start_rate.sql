-- weir_internal.start_rate(g), end_rate(g)
-- start_rate: makes the sequence that a group with a rate_max needs; see internal/rate_room.sql. end_rate: drops it,
-- with the group or with its rate. The caller stores the sequence in groups.rate_sequence, and holds the group's lock
-- if the group is in use.
--
-- Parameters:
--   g  the group
-- Returns: start_rate: the sequence; end_rate: nothing.
-- Raises: none
-- Locks: end_rate: the sequence.
create or replace function weir_internal.start_rate(g weir_internal.groups)
returns regclass
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if g.rate_sequence is null then
        execute format('create sequence weir_internal.rate_%s minvalue 0', g.no);
        g.rate_sequence := format('weir_internal.rate_%s', g.no)::regclass;
        perform setval(g.rate_sequence, 0);
    end if;
    return g.rate_sequence;
end
$$;
create or replace function weir_internal.end_rate(g weir_internal.groups)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if g.rate_sequence is not null then
        execute format('drop sequence %s', g.rate_sequence);
    end if;
end
$$;
