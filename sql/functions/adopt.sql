-- weir.adopt(log_name)
-- Makes queues that came in a dump usable: after pg_dump and restore every call on them fails with WR019, because what
-- their log knows of transactions is of another cluster. Each group is delivered again what it had not finished when
-- the dump was taken, claimed or not, with the ids, keys, times and attempts it had, in order per key. What was under a
-- claim counts as delivered once more; an ack with such a claim fails with WR010. All else stays: dead letters, what is
-- delayed, settings, pauses, topics, rights. Logs that need nothing are left alone. Numbers of messages and claims go
-- on 1,000,000,000 further on, so that what was given out after the dump is not given out again. For the role that
-- installed Weir. When it is interrupted, call it again.
--
-- Parameters:
--   log_name  one log; null = every log that needs it, all in this transaction
-- Returns: how many queues it adopted.
-- Raises: WR006, WR012, WR016
-- Locks: the lock of each log's upkeep; ACCESS EXCLUSIVE on its claim log; up to 130 locks a log, however many queues
-- it has. All until the transaction ends.
create or replace function weir.adopt(log_name text default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    l weir_internal.logs;
    v_queues int;
    v_count int := 0;
    v_logs int := 0;
    v_adopted int[] := '{}';
begin
    perform weir_internal.check_isolation('adopt');
    if log_name is not null then
        perform weir_internal.find_log(log_name);
    end if;
    for l in select * from weir_internal.logs w where log_name is null or w.name = log_name order by w.no loop
        perform pg_advisory_xact_lock(weir_internal.rotation_lock(l.no));
        -- another may have adopted it meanwhile, or dropped it
        select * into l from weir_internal.logs w where w.no = l.no;
        continue when not found or l.origin is not distinct from weir_internal.origin_of(l.schema_name);
        if to_regclass(format('%I.log_ring', l.schema_name)) is null then
            raise exception 'the schema % of log "%" was not restored', l.schema_name, l.name
                using errcode = 'WR016',
                hint = 'Restore all schemas of the dump together: weir, weir_internal, weir_gates and weir_log*.';
        end if;
        if v_logs = 0 then
            perform setval(s, pg_sequence_last_value(s) + 1000000000)
            from unnest(array['weir_internal.record_numbers', 'weir_internal.claim_numbers']::regclass[]) s
            where pg_sequence_last_value(s) > 0;
        end if;
        v_logs := v_logs + 1;
        v_adopted := v_adopted || l.no;
        execute format('select %I.adopt($1)', l.schema_name) using l.no;
        update weir_internal.queues w set origin = weir_internal.origin_of(l.schema_name) where w.log_no = l.no;
        get diagnostics v_queues = row_count;
        update weir_internal.queues w set moving_origin = weir_internal.origin_of(l.schema_name)
        where w.moving_from = l.no;
        v_count := v_count + v_queues;
        update weir_internal.logs w set origin = weir_internal.origin_of(l.schema_name) where w.no = l.no;
    end loop;
    update weir_internal.groups g set purged = null -- which is another cluster's; a queue that is moving has two logs
    from weir_internal.queues w
    where w.no = g.queue_no and g.purged is not null and not exists (
        select from weir_internal.logs o
        where o.no in (w.log_no, w.moving_from) and weir_internal.origin_of(o.schema_name)
            is distinct from case o.no when w.log_no then w.origin else w.moving_origin end)
        and (w.log_no = any(v_adopted) or w.moving_from = any(v_adopted));
    return v_count;
end
$$;
