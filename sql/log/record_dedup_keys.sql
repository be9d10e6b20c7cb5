-- weir_log.record_dedup_keys(q, p_keys, p_ids), weir_log.claim_unique_keys(q, p_keys, p_ids, p_until)
-- record_dedup_keys: notes dedup keys with the ids of their messages, or tells which ids they were noted with within
-- the queue's window. claim_unique_keys: takes the keys of unique jobs, or tells which jobs have them. Both are kept in
-- a ring of two tables that all queues of the log share: see log/turn_ring.sql. Digests of the two kinds never meet.
--
-- Of a dedup key `at` is when it was sent. Of a unique job it is until when its key counts; 'infinity' = until the job
-- is finished, which is found out by looking where the job is, so that nothing has to give a key back.
--
-- A key is noted by the unique index of the open table: whoever comes second waits there until the first has committed
-- or rolled back. A row that counts no more is taken over by whoever is first to change it. The other table is only
-- read; while it may have writers, and in a transaction whose fixed snapshot may hide some of its rows, those are
-- waited for. All of it holds only if the ring did not turn meanwhile. So the ring is looked at again at the end, as a
-- reader of a seqlock does; if it turned, what was noted is taken back and everything done anew.
-- drop_keys: takes back what was noted.
--
-- Parameters:
--   q        the queue
--   p_keys   digests, no two equal, ascending, so that two senders of several keys do not wait for each other
--   p_ids    one a key
--   p_until  until when the keys count
--   p_table  number of the table they were noted in
--   p_here   true: in this log only; else, of a queue that is moving, in both: see log/take_keys_in_both.sql
-- Returns: an id a key: that of p_ids when it was noted now, else the one that it was noted with.
-- Raises: record_dedup_keys: 40001 where a fixed snapshot hides a row that counts; both: 40P01
-- Locks: ROW EXCLUSIVE on the open table, ACCESS SHARE on the other, and the keys: until the transaction ends.
create or replace function weir_log.record_dedup_keys(
    q weir_internal.queues, p_keys uuid[], p_ids bigint[], p_here boolean default false)
returns bigint[]
language plpgsql
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_since timestamptz := v_now - q.dedup_window;
    v_fixed boolean := current_setting('transaction_isolation') not in ('read committed', 'read uncommitted');
    v_ring bigint;
    v_open int;
    v_phase int;
    v_first bigint[];
begin
    if q.moving_from is not null and not p_here then
        return weir_log.take_keys_in_both(q, p_keys, p_ids, null);
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_log.dedup_ring');
        v_open := weir_internal.open_ring_table(v_ring);
        v_phase := weir_internal.ring_phase(v_ring);
        v_first := array_fill(null::bigint, array[cardinality(p_keys)]);
        if v_phase = 0 or v_phase = 1 and v_fixed then
            perform weir_log.wait_for_key_writers(q.no, p_keys, 1 - v_open);
        end if;
        if v_phase < 2 then
            v_first := case v_open when 0 then weir_log.known_keys_1(q.no, p_keys, v_since)
                else weir_log.known_keys_0(q.no, p_keys, v_since) end;
        end if;
        v_first := case v_open when 0 then weir_log.note_keys_0(q.no, p_keys, p_ids, v_first, v_now, v_since)
            else weir_log.note_keys_1(q.no, p_keys, p_ids, v_first, v_now, v_since) end;
        if pg_sequence_last_value('weir_log.dedup_ring') = v_ring and array_position(v_first, null) is null then
            return v_first;
        end if;
        perform weir_log.drop_keys(q, p_keys, p_ids, v_open);
    end loop;
end
$$;
create or replace function weir_log.claim_unique_keys(
    q weir_internal.queues, p_keys uuid[], p_ids bigint[], p_until timestamptz, p_here boolean default false)
returns bigint[]
language plpgsql
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_ring bigint;
    v_open int;
    v_phase int;
    v_first bigint[];
begin
    if q.moving_from is not null and not p_here then
        return weir_log.take_keys_in_both(q, p_keys, p_ids, p_until);
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_log.dedup_ring');
        v_open := weir_internal.open_ring_table(v_ring);
        v_phase := weir_internal.ring_phase(v_ring);
        v_first := array_fill(null::bigint, array[cardinality(p_keys)]);
        if v_phase = 0 then
            perform weir_log.wait_for_key_writers(q.no, p_keys, 1 - v_open);
        end if;
        if v_phase < 2 then
            v_first := case v_open when 0 then weir_log.known_jobs_1(q, p_keys, v_now)
                else weir_log.known_jobs_0(q, p_keys, v_now) end;
        end if;
        v_first := case v_open when 0 then weir_log.note_jobs_0(q, p_keys, p_ids, v_first, p_until, v_now)
            else weir_log.note_jobs_1(q, p_keys, p_ids, v_first, p_until, v_now) end;
        if pg_sequence_last_value('weir_log.dedup_ring') = v_ring and array_position(v_first, null) is null then
            return v_first;
        end if;
        perform weir_log.drop_keys(q, p_keys, p_ids, v_open);
    end loop;
end
$$;
create or replace function weir_log.drop_keys(
    q weir_internal.queues, p_keys uuid[], p_ids bigint[], p_table int)
returns void
language plpgsql
as $$
begin
    if p_table = 0 then
        perform weir_log.drop_keys_0(q.no, p_keys, p_ids);
    else
        perform weir_log.drop_keys_1(q.no, p_keys, p_ids);
    end if;
end
$$;
