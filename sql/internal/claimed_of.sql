-- weir_internal.claimed_of(r, p_txid, p_pos)
-- How many messages of a record a cursor's position lies behind.
--
-- Parameters:
--   r              the record
--   p_txid, p_pos  the position
-- Returns: 0 .. r.n
-- Raises: none
-- Locks: none
create or replace function weir_internal.claimed_of(r weir_internal.log_record, p_txid xid8, p_pos bigint)
returns int
language plpgsql immutable
as $$
begin
    if r.txid <> p_txid or p_pos = 0 then
        return 0;
    elsif r.ids is null then
        return greatest(0, p_pos - (r.id - r.n));
    end if;
    return (select count(*) from unnest(r.ids) i where i <= p_pos);
end
$$;
