-- weir_log.job_state_of(q, p_ids, p_txids), weir_log.states_here(q, p_ids, p_txids, p_now)
-- Which of some messages a group still has before it, and how. All is read in one snapshot, by a function that is
-- declared stable: a message that is on its way from one place to another is seen in one of them. If a ring turned
-- meanwhile, it is read again.
-- The queue's row is read anew: since the caller read it the queue may have got lanes, or begun to move, and one of the
-- messages been sent there. Of a queue that is moving, both logs are looked at, the one that it is leaving first:
-- delayed messages are taken over. states_here: what one log tells. ring_states: the states of the rings that it reads,
-- and the files of the tables that maintain truncates when they are empty: then an older snapshot misses what it should
-- see there.
--
-- Parameters:
--   q        the queue
--   p_ids    messages
--   p_txids  of each, the transaction that sent it
--   p_now    time against which leases expire
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
    n weir_internal.queues;
    v record;
    v_more record;
begin
    if coalesce(cardinality(p_ids), 0) = 0 then
        return;
    end if;
    select * into n from weir_internal.queues w where w.no = q.no;
    q := case when found then n else q end;
    if q.moving_from is null then
        select * into v from weir_log.states_here(q, p_ids, p_txids, v_now);
    else
        execute format('select * from %s.states_here($1, $2, $3, $4)', weir_internal.moving_logs(q, 1))
        into v using q, p_ids, p_txids, v_now;
        execute format('select * from %s.states_here($1, $2, $3, $4)', weir_internal.moving_logs(q, 2))
        into v_more using q, p_ids, p_txids, v_now;
        v.ids := v.ids || v_more.ids;
        v.claims := v.claims || v_more.claims;
    end if;
    return query
    select u.id, case when u.claim is not null then 'running'
                      when exists (select from weir_internal.cancellations c
                                   where c.queue_no = q.no and c.id = u.id and not c.moved)
                      then 'cancelled' else 'waiting' end,
        u.claim
    from (select s.id, max(s.claim) as claim from unnest(v.ids, v.claims) s (id, claim) group by s.id) u;
end
$$;
create or replace function weir_log.states_here(
    q weir_internal.queues, p_ids bigint[], p_txids xid8[], p_now timestamptz, out ids bigint[], out claims bigint[])
language plpgsql
as $$
declare
    v_rings bigint[];
begin
    loop
        v_rings := weir_log.ring_states();
        select r.ids, r.claims into ids, claims from weir_log.read_states(q, p_ids, p_txids, p_now) r;
        exit when weir_log.ring_states() = v_rings;
    end loop;
end
$$;
create or replace function weir_log.ring_states()
returns bigint[]
language plpgsql
as $$
begin
    return array[pg_sequence_last_value('weir_log.claims_ring'), pg_sequence_last_value('weir_log.log_ring'),
        pg_sequence_last_value('weir_log.log_0_segment'), pg_sequence_last_value('weir_log.log_1_segment'),
        pg_sequence_last_value('weir_log.log_2_segment'), pg_relation_filenode('weir_log.rest'),
        pg_relation_filenode('weir_log.delayed'), pg_relation_filenode('weir_log.parked'),
        pg_relation_filenode('weir_log.key_queues')];
end
$$;
