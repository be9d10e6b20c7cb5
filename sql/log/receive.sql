-- weir_log.receive(p_queue, p_group, p_max, p_lease)
-- Claims messages of a group: what has become due, what others let expire, what is new. All of it is one claim.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   p_max    1 to 10,000 messages at most
--   p_lease  1 millisecond to 7 days
-- Returns: the records claimed, as an array: cheaper than rows; none when there is nothing, and nothing is written
-- then.
-- Raises: WR001, WR003, WR006, WR012, WR019
-- Locks: the advisory locks of the cursors it claims with, until the transaction ends.
create or replace function weir_log.receive(p_queue text, p_group text, p_max int, p_lease interval)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    p weir_internal.peeked;
    g weir_internal.groups;
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
    v_log bigint := pg_sequence_last_value('weir_log.log_ring');
    v_now timestamptz;
    v_out weir.message_record[];
begin
    case (case when p_max between 1 and 10000 and p_lease between interval '1 millisecond' and interval '7 days'
            and current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
            weir_internal.read_claims_table(v_ring) * 3 + v_log % 3 end)
        when 0 then v_out := weir_log.receive_plainly_0_0(p_queue, p_group, p_max, p_lease, v_ring, v_log);
        when 1 then v_out := weir_log.receive_plainly_0_1(p_queue, p_group, p_max, p_lease, v_ring, v_log);
        when 2 then v_out := weir_log.receive_plainly_0_2(p_queue, p_group, p_max, p_lease, v_ring, v_log);
        when 3 then v_out := weir_log.receive_plainly_1_0(p_queue, p_group, p_max, p_lease, v_ring, v_log);
        when 4 then v_out := weir_log.receive_plainly_1_1(p_queue, p_group, p_max, p_lease, v_ring, v_log);
        when 5 then v_out := weir_log.receive_plainly_1_2(p_queue, p_group, p_max, p_lease, v_ring, v_log);
        else v_out := null; -- the claim log is turning
    end case;
    if v_out is not null then
        return v_out;
    end if;
    v_now := weir_internal.clock();
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        case weir_internal.read_claims_table(v_ring)
            when 0 then p := weir_log.peek_0(p_queue, p_group, v_now);
            when 1 then p := weir_log.peek_1(p_queue, p_group, v_now);
            else p := weir_log.peek_2(p_queue, p_group, v_now);
        end case;
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
    if (p.q).no is null then
        p := weir_log.peek_leaving(p_queue, p_group, v_now);
    end if;
    g := p.g;
    if g.no is null or p_max is null or p_max not between 1 and 10000 or p_lease is null
        or p_lease not between interval '1 millisecond' and interval '7 days'
        or current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        perform weir_internal.check_receive(p_queue, p_group, g.no, p_max, p_lease);
    end if;
    if g.paused or g.queue_paused then
        return '{}';
    end if;
    if g.ttl > interval '0' then
        p.g := weir_internal.apply_ttl(g);
    end if;
    if g.limited then
        return weir_log.receive_limited(p, p_max, p_lease, v_now);
    end if;
    return weir_log.claim_all(p, p_max, p_lease, v_now, false);
end
$$;
