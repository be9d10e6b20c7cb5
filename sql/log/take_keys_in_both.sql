-- weir_log.take_keys_in_both(q, p_keys, p_ids, p_until), weir_log.known_keys_here(q, p_keys, p_until)
-- take_keys_in_both: takes dedup keys, or keys of unique jobs, of a queue that is moving to this log. What the log that
-- it is leaving knows counts; maintain takes that over. As long as there may be senders that know of no other log, a
-- key is taken in both; after that nobody takes one there, and it is enough to look. known_keys_here: looks.
--
-- Parameters:
--   q        the queue
--   p_keys   digests, no two equal, ascending
--   p_ids    one a key
--   p_until  null: they are dedup keys; else until when the keys of unique jobs count
-- Returns: an id a key: take_keys_in_both: that of p_ids when it was taken now, else the one it was taken with;
-- known_keys_here: null where it is not taken.
-- Raises: 40001, 40P01
-- Locks: as weir_log.record_dedup_keys, in both logs.
create or replace function weir_log.take_keys_in_both(
    q weir_internal.queues, p_keys uuid[], p_ids bigint[], p_until timestamptz)
returns bigint[]
language plpgsql
as $$
declare
    v_leaving text := weir_internal.moving_logs(q, 1);
    v_first bigint[];
    v_new_keys uuid[]; -- what that log does not know
    v_new_ids bigint[];
    v_taken bigint[];
begin
    if q.moving_closed and current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
        execute format('select %s.known_keys_here($1, $2, $3)', v_leaving) into v_first using q, p_keys, p_until;
        v_first := array(select coalesce(u.known, u.id)
                         from unnest(v_first, p_ids) with ordinality u (known, id, i) order by u.i);
    elsif p_until is null then
        execute format('select %s.record_dedup_keys($1, $2, $3, true)', v_leaving) into v_first using q, p_keys, p_ids;
    else
        execute format('select %s.claim_unique_keys($1, $2, $3, $4, true)', v_leaving)
        into v_first using q, p_keys, p_ids, p_until;
    end if;
    select array_agg(u.key order by u.key), array_agg(u.id order by u.key) into v_new_keys, v_new_ids
    from unnest(p_keys, p_ids, v_first) u (key, id, first) where u.first = u.id;
    if v_new_keys is null then
        return v_first;
    end if;
    v_taken := case when p_until is null then weir_log.record_dedup_keys(q, v_new_keys, v_new_ids, true)
        else weir_log.claim_unique_keys(q, v_new_keys, v_new_ids, p_until, true) end;
    if v_taken <> v_new_ids then -- taken here by another, or taken over meanwhile: these messages are not sent
        for k in 0 .. 1 loop
            execute format('select %s.drop_keys($1, array_agg(u.key order by u.key), array_agg(u.id order by u.key), $5)
                            from unnest($2, $3, $4) u (key, id, taken) where u.taken <> u.id', v_leaving)
            using q, v_new_keys, v_new_ids, v_taken, k;
        end loop;
    end if;
    return array(
        select coalesce(n.taken, u.first)
        from unnest(p_keys, v_first) with ordinality u (key, first, i)
        left join unnest(v_new_keys, v_taken) n (key, taken) using (key) order by u.i);
end
$$;
create or replace function weir_log.known_keys_here(q weir_internal.queues, p_keys uuid[], p_until timestamptz)
returns bigint[]
language plpgsql
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_since timestamptz := v_now - q.dedup_window;
    v_first bigint[];
    v_second bigint[];
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.dedup_ring');
        if p_until is null then
            v_first := weir_log.known_keys_0(q.no, p_keys, v_since);
            v_second := weir_log.known_keys_1(q.no, p_keys, v_since);
        else
            v_first := weir_log.known_jobs_0(q, p_keys, v_now);
            v_second := weir_log.known_jobs_1(q, p_keys, v_now);
        end if;
        exit when pg_sequence_last_value('weir_log.dedup_ring') = v_ring;
    end loop;
    return array(select coalesce(u.one, u.other)
                 from unnest(v_first, v_second) with ordinality u (one, other, i) order by u.i);
end
$$;
