-- weir_log.job_state_of(q, p_ids, p_txids)
-- Which of some messages a group still has before it, and how. All is read in one snapshot, by a function that is
-- declared stable: a message that is on its way from one place to another is seen in one of them. If a ring turned
-- meanwhile, it is read again.
-- ring_states: the states of the rings that it reads.
--
-- Parameters:
--   q        the queue
--   p_ids    messages
--   p_txids  of each, the transaction that sent it
-- Returns: one row a message that is not finished in all groups: its state, 'running' (under a live claim), 'cancelled'
-- or 'waiting'; running: the claim.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.job_state_of(q weir_internal.queues, p_ids bigint[], p_txids xid8[])
returns table (id bigint, state text, claim bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
    v_now timestamptz := weir_internal.clock();
    v_rings bigint[];
    v record;
begin
    if coalesce(cardinality(p_ids), 0) = 0 then
        return;
    end if;
    loop
        v_rings := weir_log.ring_states();
        select r.ids, r.claims into v from weir_log.read_states(q, p_ids, p_txids, v_now) r;
        exit when weir_log.ring_states() = v_rings;
    end loop;
    return query
    select u.id, case when u.claim is not null then 'running'
                      when exists (select from weir_internal.cancellations c where c.queue_no = q.no and c.id = u.id)
                      then 'cancelled' else 'waiting' end,
        u.claim
    from (select s.id, max(s.claim) as claim from unnest(v.ids, v.claims) s (id, claim) group by s.id) u;
end
$$;
create or replace function weir_log.ring_states()
returns bigint[]
language plpgsql
as $$
begin
    return array[pg_sequence_last_value('weir_log.claims_ring'), pg_sequence_last_value('weir_log.log_ring'),
        pg_sequence_last_value('weir_log.log_0_segment'), pg_sequence_last_value('weir_log.log_1_segment'),
        pg_sequence_last_value('weir_log.log_2_segment')];
end
$$;
