-- weir_internal.continue_moves(), weir_internal.continue_move(p_queue), weir_internal.end_move(q)
-- Takes each queue that is moving a step further. continue_move:
-- 1. Whoever has a snapshot from before the move may still send to the log that the queue is leaving. His virtual
--    transaction is noted, and crossed out when it is over, or has no snapshot at this moment, so that its next has
--    seen the move. When nobody is left, all who have sent there have ids, and a snapshot tells which of them go on.
-- 2. Of these, who has a lock on a table of that log may have sent. When they are over, nobody sends there any more.
-- 3. What is not due yet, and keys that count for dedup, are taken over, in batches.
-- 4. When no group has anything there, events of tracked jobs are taken over; then the queue has moved.
-- No step waits for anybody, and each finds what the ones before it have committed.
-- end_move: makes the queue one that is in one log. What is left of it in the other are records that every group has
-- finished, and cursors, which are no one's: see weir_log.lane_cursors.
--
-- Parameters:
--   p_queue  number of the queue
--   q        the queue
-- Returns: how much was done, 0 or 1 a queue.
-- Raises: none; what goes wrong with one queue is reported.
-- Locks: the queue's administration and the upkeep of its two logs, tried; end_move: with gates the lock of rights,
-- tried.
create or replace function weir_internal.continue_moves()
returns int
language plpgsql
as $$
declare
    q record;
    v_done int := 0;
begin
    for q in select w.no, w.name from weir_internal.queues w where w.moving_from is not null order by w.no loop
        begin
            v_done := v_done + weir_internal.continue_move(q.no);
        exception
            when lock_not_available then
                null;
            when others then
                raise warning 'queue "%" does not go on moving: % (%)', q.name, sqlerrm, sqlstate;
        end;
    end loop;
    return v_done;
end
$$;
create or replace function weir_internal.continue_move(p_queue int)
returns int
language plpgsql
as $$
declare
    q weir_internal.queues;
    v_from text;
    v_to text;
    v_waits text[];
    v_delayed weir_internal.delayed_row[];
    v_events weir_internal.job_event[];
    k record;
    v_is_done boolean;
begin
    select * into q from weir_internal.queues w where w.no = p_queue;
    if not pg_try_advisory_xact_lock(weir_internal.admin_lock(p_queue))
        or not pg_try_advisory_xact_lock(weir_internal.rotation_lock(q.moving_from))
        or not pg_try_advisory_xact_lock(weir_internal.rotation_lock(q.log_no)) then
        return 0;
    end if;
    select * into q from weir_internal.queues w where w.no = p_queue;
    v_from := weir_internal.moving_logs(q, 1);
    v_to := weir_internal.moving_logs(q, 2);
    if v_from is null or q.moving_origin <> weir_internal.origin_of(v_from)
        or q.origin <> weir_internal.origin_of(v_to) then
        return 0; -- it is over, or came here in a dump
    elsif q.moving_closed is null and q.moving_seen is null then
        v_waits := array(
            select v from weir_internal.old_snapshots(q.moving_by) v
            where q.moving_waits is null or v = any(q.moving_waits));
        update weir_internal.queues w
        set moving_waits = v_waits, moving_seen = case when v_waits = '{}' then pg_current_snapshot() end
        where w.no = q.no and (w.moving_waits is distinct from v_waits or v_waits = '{}');
        return (v_waits = '{}')::int;
    elsif q.moving_closed is null then
        if weir_internal.has_writers(q.moving_seen, v_from) then
            return 0;
        end if;
        update weir_internal.queues w set moving_closed = true, moving_waits = null, moving_seen = null
        where w.no = q.no;
        return 1;
    end if;
    execute format('select %s.take_delayed($1, 1000)', v_from) into v_delayed using q;
    execute format('select * from %s.take_keys($1, 10000)', v_from) into k using q;
    if v_delayed is not null then
        execute format('select %s.add_delayed($1, $2)', v_to) using q, v_delayed;
    end if;
    if k.keys is not null then
        execute format('select %s.add_keys($1, $2, $3, $4, $5)', v_to)
        into v_is_done using q, k.keys, k.ids, k.times, k.txids;
        if not v_is_done then
            raise lock_not_available; -- the ring has turned: what was taken stays where it was
        end if;
    end if;
    if v_delayed is not null or k.keys is not null then
        return 1;
    end if;
    execute format(
        'select not exists (select from weir_internal.groups g where g.queue_no = ($1).no and %1$s.holds(g))
             and not exists (select from %1$s.depths_here($1) s where s.waiting + s.claimed + s.delayed + s.parked > 0)
             and not exists (select from %1$s.delayed d
                             where d.queue_no = ($1).no and d.due_at > weir_internal.clock())', v_from)
    into v_is_done using q;
    if not v_is_done then
        return 0;
    end if;
    execute format('select %s.take_events($1, 10000)', v_from) into v_events using q;
    if v_events is not null then
        execute format('select %s.append_job_event($1)', v_to) using v_events;
        return 1;
    end if;
    return weir_internal.end_move(q);
end
$$;
create or replace function weir_internal.end_move(q weir_internal.queues)
returns int
language plpgsql
as $$
declare
    g weir_internal.groups;
    v_from text := weir_internal.moving_logs(q, 1);
begin
    if weir_internal.has_gates(q.name) and not pg_try_advisory_xact_lock(weir_internal.rights_lock()) then
        return 0;
    end if;
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        execute format('delete from %s.parked where group_no in ($1, -$1)', v_from) using g.no;
        execute format('select %s.clear_key_queues($1)', v_from) using g;
    end loop;
    execute format('delete from %s.delayed where queue_no = $1', v_from) using q.no; -- which every group has claimed
    update weir_internal.queues w
    set moving_from = null, moving_origin = null, moving_by = null, moving_closed = null
    where w.no = q.no
    returning * into q;
    perform weir_internal.remake_gates(q);
    return 1;
end
$$;
-- weir_internal.old_snapshots(p_xid), weir_internal.has_writers(p_snapshot, p_schema)
-- old_snapshots: transactions of this database that read by a snapshot that may be older than the end of a transaction.
-- has_writers: whether a transaction that was in progress in a snapshot still is, and has written to tables of a log.
--
-- Parameters:
--   p_xid       the transaction, which has ended
--   p_snapshot  the snapshot
--   p_schema    the log's schema
-- Returns: old_snapshots: their virtual transactions' ids; has_writers: see above.
-- Raises: none
-- Locks: none
create or replace function weir_internal.old_snapshots(p_xid xid8)
returns setof text
language plpgsql
as $$
begin
    return query
    select l.virtualxid
    from pg_stat_activity a
    join pg_locks l on l.pid = a.pid and l.locktype = 'virtualxid' and l.mode = 'ExclusiveLock'
    where a.datid = (select d.oid from pg_database d where d.datname = current_database())
        and a.pid <> pg_backend_pid() and coalesce(a.backend_type, '') not in ('autovacuum worker', 'walsender')
        and age(a.backend_xmin) >= age(p_xid::xid);
end
$$;
create or replace function weir_internal.has_writers(p_snapshot pg_snapshot, p_schema text)
returns boolean
language plpgsql
as $$
begin
    return exists (
        select from pg_snapshot_xip(p_snapshot) x
        join pg_locks t on t.locktype = 'transactionid' and t.mode = 'ExclusiveLock' and t.transactionid = x::xid
        join pg_locks r on r.virtualtransaction = t.virtualtransaction
            and r.locktype = 'relation' and r.mode = 'RowExclusiveLock'
            and r.database = (select d.oid from pg_database d where d.datname = current_database())
        join pg_class c on c.oid = r.relation and c.relnamespace = to_regnamespace(p_schema)
        where not pg_visible_in_snapshot(x, pg_current_snapshot()));
end
$$;
