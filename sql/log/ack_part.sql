-- weir_log.ack_part(q, p_claim, p_ids)
-- An ack that is as plain as nearly all are: of one message, or of a claim of which nothing was settled.
--
-- Parameters:
--   q        the queue
--   p_claim  the claim, locked
--   p_ids    messages of it; null = all of it
-- Returns: how many messages it finished; null: weir_log.settle_part must see.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the claim log.
create or replace function weir_log.ack_part(q weir_internal.queues, p_claim bigint, p_ids int8multirange)
returns int
language plpgsql
as $$
declare
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
    v_table int := weir_internal.read_claims_table(v_ring);
    v_n int;
begin
    if v_table > 1 then
        return null;
    elsif upper(p_ids) - lower(p_ids) = 1 then
        v_n := case v_table when 0 then weir_log.ack_0(v_ring, q.name, p_claim, lower(p_ids))
                            else weir_log.ack_1(v_ring, q.name, p_claim, lower(p_ids)) end;
    elsif isempty(p_ids) is not true then
        v_n := case v_table when 0 then weir_log.ack_all_0(v_ring, q.name, p_claim, p_ids)
                            else weir_log.ack_all_1(v_ring, q.name, p_claim, p_ids) end;
    end if;
    return v_n;
end
$$;
