-- weir_log.configure_queue(p_queue, p_settings), weir_log.begin_epoch(q)
-- Changes a queue's settings. Calls under way end as they began. A new number of lanes for keys begins a new epoch:
-- lanes of new numbers, so that an ordered group can finish the old ones first. At most 16 epochs are looked into, and
-- nobody claims out of key queues when one begins, since who does locks all lanes that a key may have.
--
-- Parameters:
--   p_queue     name of the queue
--   p_settings  as weir.configure_queue takes them, by name; null or missing = as it is; dedup_window, backlog_max: 0 =
--               none
--   q           the queue as it is
-- Returns: configure_queue: nothing. begin_epoch: its key_epochs as they are then.
-- Raises: WR001, WR006, WR019, WR061
-- Locks: the queue's administration; with a new number of lanes, lane -1 of its ordered groups, waited for; with a new
-- ttl, the upkeep of the log, shared: until the transaction ends.
create or replace function weir_log.configure_queue(p_queue text, p_settings jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    o weir_internal.queues := weir_internal.lock_queue(p_queue); -- before
    q weir_internal.queues := o; -- after
    v_log text;
begin
    q := jsonb_populate_record(o, jsonb_strip_nulls(jsonb_build_object(
        'key_lanes', p_settings -> 'lanes', 'message_bytes_max', p_settings -> 'message_bytes_max',
        'aging', p_settings -> 'aging', 'ttl', p_settings -> 'ttl', 'dedup_window', p_settings -> 'dedup_window',
        'backlog_max', p_settings -> 'backlog_max', 'job_retention', p_settings -> 'job_retention')));
    q.dedup_window := nullif(q.dedup_window, interval '0');
    q.backlog_max := nullif(q.backlog_max, 0);
    perform weir_internal.check_queue_settings(q);
    if q.key_lanes <> o.key_lanes then
        q.key_epochs := weir_log.begin_epoch(o);
    end if;
    if q.ttl <> o.ttl then -- what was too old may not be any more
        foreach v_log in array weir_internal.logs_of_moving(p_queue) loop
            execute format('select %s.pause_upkeep()', v_log);
        end loop;
    end if;
    if q.backlog_max is distinct from o.backlog_max then
        q.backlog_sequence := coalesce(weir_internal.start_backlog(q.no), q.backlog_sequence);
    end if;
    update weir_internal.queues w
    set key_lanes = q.key_lanes, key_epochs = q.key_epochs, message_bytes_max = q.message_bytes_max, aging = q.aging,
        ttl = q.ttl, dedup_window = q.dedup_window, backlog_max = q.backlog_max,
        backlog_sequence = q.backlog_sequence, job_retention = q.job_retention
    where w.no = q.no;
    if q.ttl <> o.ttl then
        update weir_internal.groups set ttl = q.ttl where queue_no = q.no;
        perform weir_log.end_in_time(q);
        if q.moving_from is not null then
            execute format('select %s.end_in_time($1)', weir_internal.moving_logs(q, 1)) using q;
        end if;
    end if;
end
$$;
create or replace function weir_log.begin_epoch(q weir_internal.queues)
returns int[]
language plpgsql
as $$
declare
    g weir_internal.groups;
    v_next int := q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes;
begin
    for g in select * from weir_internal.groups w where w.queue_no = q.no and w.ordered order by w.no loop
        perform weir_log.lock_cursor(weir_internal.lane_lock(g.no, -1, 1));
    end loop;
    q := weir_log.trim_epochs_of(q);
    if cardinality(q.key_epochs) >= 16 then
        raise exception 'the number of lanes of queue "%" was changed % times, and lanes of all are still looked into',
            q.name, cardinality(q.key_epochs) - 1
            using errcode = 'WR061',
            hint = 'Let every group finish what was sent before the changes (weir.stats), and older transactions end '
                '(pg_stat_activity); then change it again.';
    end if;
    insert into weir_internal.ended_epochs values (q.no, v_next, pg_current_xact_id(), null);
    return q.key_epochs || v_next;
end
$$;
-- weir_log.end_in_time(q)
-- Makes heads of key queues due when they are past the queue's ttl: they hold up what stands behind them.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: rows of `parked`.
create or replace function weir_log.end_in_time(q weir_internal.queues)
returns void
language plpgsql
as $$
begin
    update weir_log.parked p set due_at = p.enqueued_at + q.ttl
    where p.queue_no = q.no and q.ttl > interval '0' and p.due_at > p.enqueued_at + q.ttl;
end
$$;
