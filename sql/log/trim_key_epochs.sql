-- weir_log.trim_key_epochs(), weir_log.trim_epochs_of(q), weir_log.can_see(p_txid), weir_log.is_stored(q, p_from, p_to)
-- Gives up the lanes of keys of epochs that are over, the oldest first, so that groups need not look into them any
-- more: when nobody can send to them, and every group has claimed and finished what was sent.
--
-- Who can send to them is who does not see the change that ended the epoch. Such a transaction has a snapshot that is
-- as old, or has had one and has a number by now, for it has sent. So first nobody may have such a snapshot any more;
-- then no transaction may be open that had a number at that time. Both ask for more than need be: a transaction that is
-- open for long and has to do with nothing of this keeps the epoch. No message waits for that.
-- In a log with a retention, what is stored of the lanes must be gone, too, since it can be replayed.
--
-- Parameters:
--   q       the queue; the caller holds the lock of its administration
--   p_txid  a transaction that has committed
--   p_from, p_to  lanes, the last not included
-- Returns: trim_key_epochs: how many epochs of all queues it gave up; trim_epochs_of: the queue as it is then; can_see:
--   whether all snapshots of this database see the transaction; is_stored: whether the log has something of the lanes.
-- Raises: none
-- Locks: trim_key_epochs: the administration of queues of which an epoch has ended, tried, until the transaction ends.
create or replace function weir_log.trim_key_epochs()
returns int
language plpgsql
as $$
declare
    q weir_internal.queues;
    v_no int;
    v_done int := 0;
begin
    for v_no in select distinct e.queue_no from weir_internal.ended_epochs e loop
        select * into q from weir_internal.queues
        where no = v_no and origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
        continue when not found or not pg_try_advisory_xact_lock(weir_internal.admin_lock(v_no));
        select * into q from weir_internal.queues where no = v_no;
        continue when not found;
        v_done := v_done + cardinality(q.key_epochs) - cardinality((weir_log.trim_epochs_of(q)).key_epochs);
    end loop;
    return v_done;
end
$$;
create or replace function weir_log.trim_epochs_of(q weir_internal.queues)
returns weir_internal.queues
language plpgsql
as $$
declare
    e weir_internal.ended_epochs;
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') -- it cannot see all
        or q.moving_from is not null then -- the lanes of two logs have to be drained
        return q;
    end if;
    for e in
        select * from weir_internal.ended_epochs w where w.queue_no = q.no and w.written_by is null order by w.next_lane
    loop
        exit when not weir_log.can_see(e.ended_by);
        update weir_internal.ended_epochs w set written_by = pg_snapshot_xmax(pg_current_snapshot())
        where w.queue_no = q.no and w.next_lane = e.next_lane;
    end loop;
    for e in select * from weir_internal.ended_epochs w where w.queue_no = q.no order by w.next_lane loop
        exit when e.written_by is null or pg_snapshot_xmin(weir_internal.snapshot()) < e.written_by
            or weir_log.is_stored(q, q.key_epochs[1], e.next_lane)
            or exists (select from weir_internal.groups g
                       where g.queue_no = q.no
                           and weir_log.undrained_lane(q, weir_internal.apply_ttl(g), e.next_lane) is not null);
        q.key_epochs := q.key_epochs[2:];
        update weir_internal.queues w set key_epochs = q.key_epochs where w.no = q.no;
        delete from weir_internal.ended_epochs w where w.queue_no = q.no and w.next_lane = e.next_lane;
    end loop;
    return q;
end
$$;
create or replace function weir_log.can_see(p_txid xid8)
returns boolean
language plpgsql
as $$
declare
    v_next bigint;
begin
    perform pg_stat_clear_snapshot(); -- of an earlier look in this transaction
    v_next := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    return not exists (
        select from pg_stat_activity a
        where a.datname = current_database() and a.backend_xmin is not null
            -- from 32 bits to 64: it is not far from the next one
            and v_next + ((a.backend_xmin::text::bigint - v_next + 2147483648) & 4294967295) - 2147483648
                <= p_txid::text::bigint);
end
$$;
create or replace function weir_log.is_stored(q weir_internal.queues, p_from int, p_to int)
returns boolean
language plpgsql
as $$
begin
    return exists (
        select from weir_internal.logs l
        cross join generate_series(0, 3) k
        cross join lateral weir_log.lanes_in(k, q.no, p_from - 1, 1) i
        where l.no = q.log_no and l.retention > interval '0' and i.queue_no = q.no and i.lane < p_to);
end
$$;
