-- weir_log.read_again(g)
-- A group as it is now, for who has got a lock since it was read: a drop, a seek, a pause or a limit may have come in
-- between.
--
-- Parameters:
--   g  the group as it was read, its beginning perhaps moved on by the ttl
-- Returns: the group; null when it was dropped, or when it is claimed in differently now.
-- Raises: none
-- Locks: none
create or replace function weir_log.read_again(g weir_internal.groups)
returns weir_internal.groups
language plpgsql
as $$
declare
    n weir_internal.groups;
begin
    select * into n from weir_internal.groups where no = g.no;
    if n.limited is distinct from g.limited or n.keyed <> g.keyed then
        return null;
    elsif n.ttl > interval '0' then
        n := weir_internal.apply_ttl(n);
    end if;
    return n;
end
$$;
