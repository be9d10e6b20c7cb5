-- weir_log.admit(q, p_count), weir_log.count_backlog(q, p_count)
-- Decides whether messages may be sent to a queue that has a limit. The sequence q.backlog_sequence counts down: it
-- says how many more messages may be sent without counting; each sender takes as many of its numbers as it sends
-- messages. When they are used up, the backlog is counted anew, by one sender at a time. So counting is needed once per
-- so many messages as there was room for.
--
-- How exact it is: the count sees what is committed and the caller's own. So the backlog can exceed the limit by what
-- other transactions had sent and not committed at that moment, and by what comes back to a group by seek and redrive
-- or comes with a new group. Numbers that were taken and not used (rollbacks) only make the next count come sooner. A
-- queue that was found full is not counted again, and its senders refused, for ten times as long as the count took, a
-- second at most: until then the sequence is negative and says the time, in milliseconds, and the room that there was.
-- Then the next sender counts. So producers go on after consumers have caught up, whoever calls maintain or not.
--
-- Parameters:
--   q        the queue
--   p_count  how many messages are to be sent
--   p_queue  its number
-- Returns: admit: nothing. count_backlog: the room that it found, of which p_count messages are taken if they fit; null
--   when somebody else has counted meanwhile.
-- Raises: WR012 (from a fixed snapshot that is older than the claim log's last turn), WR020
-- Locks: count_backlog: an advisory lock of the queue, only while it counts.
create or replace function weir_log.admit(q weir_internal.queues, p_count int)
returns void
language plpgsql
as $$
declare
    v_room bigint;
    v_full bigint; -- milliseconds for which it still counts as full
begin
    loop
        v_room := coalesce(pg_sequence_last_value(q.backlog_sequence), 0); -- null after a crash
        if v_room >= p_count then
            v_room := (select min(nextval(q.backlog_sequence)) from generate_series(1, p_count));
            if v_room >= 0 then
                return;
            end if;
        end if;
        v_full := (-v_room >> 20) - weir_internal.to_micros(weir_internal.clock()) / 1000;
        v_room := -v_room & 1048575;
        if v_full not between 1 and 1000 or v_room >= p_count then
            v_room := weir_log.count_backlog(q.no, p_count);
            if v_room >= p_count then
                return;
            end if;
        end if;
        exit when v_room is not null;
    end loop;
    raise exception 'queue "%" is full: its slowest group is % messages behind, and % more exceed its limit of %',
        q.name, q.backlog_max - v_room, p_count, q.backlog_max
        using errcode = 'WR020',
        hint = 'Send again when consumers have caught up, or raise backlog_max with weir.configure_queue.';
end
$$;
create or replace function weir_log.count_backlog(p_queue int, p_count int)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues;
    v_seen bigint;
    v_last bigint;
    v_room bigint;
    v_began bigint;
    v_ended bigint;
begin
    select * into q from weir_internal.queues where no = p_queue;
    if q.backlog_max is null then -- not any more
        return p_count;
    end if;
    v_seen := coalesce(pg_sequence_last_value(q.backlog_sequence), 0);
    perform pg_advisory_xact_lock(weir_internal.backlog_lock(q.no));
    v_last := coalesce(pg_sequence_last_value(q.backlog_sequence), 0);
    if v_last between v_seen - 1000000 and v_seen then -- else somebody has set it
        v_began := weir_internal.to_micros(weir_internal.clock());
        v_room := q.backlog_max - weir_log.backlog(q, q.backlog_max);
        v_room := v_room - (v_last - pg_sequence_last_value(q.backlog_sequence)); -- what others took meanwhile
        if v_room >= p_count then
            perform setval(q.backlog_sequence, v_room - p_count);
        else
            v_ended := weir_internal.to_micros(weir_internal.clock());
            perform setval(q.backlog_sequence, -(
                ((v_ended + least(1000000, 10 * (v_ended - v_began))) / 1000 << 20)
                | greatest(0, least(v_room, 1048575))));
        end if;
    end if;
    raise exception 'counted' using errcode = 'raise_exception'; -- which lets go of the lock
exception
    when raise_exception then
        return v_room;
end
$$;
