-- weir_log.examine(p_queue), weir_log.examine_group(s, p_others)
-- What is wrong with a queue of this log, or with any: see weir.doctor.
--
-- Parameters:
--   p_queue   name of the queue; null = all
--   s         how a group stands
--   p_others  another group of the queue is delivered what there is
-- Returns: findings.
-- Raises: WR001, WR012
-- Locks: as weir_log.stats.
create or replace function weir_log.examine(p_queue text)
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    f record;
    v_rows weir.group_stats[];
begin
    select count(*) as n into f
    from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no
    where l.schema_name = 'weir_log' and q.name = coalesce(p_queue, q.name)
        and q.origin <> array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
    if f.n > 0 then
        return next row('error', 'restored', p_queue, null, f.n || ' queues',
            'The log came here in a dump: its positions mean nothing in this cluster, and all calls are refused.',
            'When no old consumer is connected any more: select weir.adopt()')::weir.finding;
        return;
    end if;
    v_rows := array(select s from weir_log.stats(p_queue) s);
    return query
    select e.* from unnest(v_rows) s
    cross join lateral weir_log.examine_group(s, exists (
        select from unnest(v_rows) t
        where t.queue_name = s.queue_name and t.group_name <> s.group_name
            and (t.delivered_rate > 0 or t.waiting = 0))) e;
    for f in
        select w.name, w.error, q.name as queue_name
        from weir_internal.schedules w
        join weir_internal.queues q on q.no = w.queue_no and q.name = coalesce(p_queue, q.name)
        join weir_internal.logs l on l.no = q.log_no and l.schema_name = 'weir_log'
        where w.error is not null
    loop
        return next row('warning', 'schedule_fails', f.queue_name, null, f.name,
            'The schedule is due and its job cannot be enqueued: ' || left(f.error, 200),
            'Cure that, or pause the schedule; it is tried again all the time.')::weir.finding;
    end loop;
    for f in
        select q.name as queue_name, o.name as log, q.moving_closed
        from weir_internal.queues q
        join weir_internal.logs l on l.no = q.log_no and l.schema_name = 'weir_log'
        join weir_internal.logs o on o.no = q.moving_from
        where q.name = coalesce(p_queue, q.name)
    loop
        return next row('info', 'moving', f.queue_name, null, 'from log ' || f.log,
            case when f.moving_closed then 'New messages go to the new log; groups have not finished the old one yet.'
                else 'New messages go to the new log; transactions that were open when that began, and may have sent '
                    'to the old one, go on.' end,
            'Nothing need be done: weir.maintain() ends it. A group that nobody reads can be dropped.')::weir.finding;
    end loop;
    for f in
        select g.name as group_name, q.name as queue_name, h.*
        from weir_internal.lock_holders() h
        join weir_internal.groups g on g.no = h.group_no
        join weir_internal.queues q on q.no = g.queue_no and q.name = coalesce(p_queue, q.name)
        join weir_internal.logs l on l.no = q.log_no and l.schema_name = 'weir_log'
    loop
        if f.in_transaction then
            return next row('error', 'transaction_holds_lanes', f.queue_name, f.group_name,
                format('process %s of %s', f.pid, f.role_name),
                format('It has received and not committed for %s: nobody else gets messages from its lanes. '
                    'Last statement: %s', date_trunc('second', f.age), f.query),
                format('Commit after each receive. To end it: select pg_terminate_backend(%s).', f.pid))::weir.finding;
        else
            return next row('error', 'foreign_lock', f.queue_name, f.group_name,
                format('process %s of %s', f.pid, f.role_name),
                'It holds an advisory lock of Weir''s outside of a transaction, which no call of Weir''s does: '
                    'the group is not delivered what the lock guards.',
                format('End it: select pg_terminate_backend(%s); then see what that program locks, and with which key.',
                    f.pid))::weir.finding;
        end if;
    end loop;
end
$$;
create or replace function weir_log.examine_group(s weir.group_stats, p_others boolean)
returns setof weir.finding
language plpgsql stable
as $$
declare
    v_is_paused boolean := (
        select g.paused or g.queue_paused from weir_internal.groups g join weir_internal.queues q on q.no = g.queue_no
        where q.name = s.queue_name and g.name = s.group_name);
    v_long text := date_trunc('second', s.oldest_age)::text;
begin
    if v_is_paused and s.oldest_age > interval '10 minutes' then
        return next row('warning', 'paused_group', s.queue_name, s.group_name, s.waiting || ' waiting',
            'The group is paused, and what is sent meanwhile is kept for it.',
            format('select weir.resume(%L, %L), or drop the group.', s.queue_name, s.group_name))::weir.finding;
    elsif v_is_paused then
        null;
    elsif s.held_by is not null and s.oldest_age > interval '10 minutes' then
        return next row('warning', 'limit_starves', s.queue_name, s.group_name, s.held_by,
            format('The group is held back by its own limit, and its oldest message has waited for %s.', v_long),
            format('If it may do more: select weir.configure_group(%L, %L, %s).', s.queue_name, s.group_name,
                s.held_by || '_max => ...'))::weir.finding;
    elsif s.held_by is null and s.delivered_rate = 0 and s.oldest_age > interval '1 minute' then
        if p_others and s.delivered_at is null then
            return next row('warning', 'unread_group', s.queue_name, s.group_name, s.waiting || ' waiting',
                format('Nobody has received for the group, for %s; others of the queue are read. Each group is kept '
                    'all that is sent.', v_long),
                format('Consume from it, or select weir.drop_group(%L, %L). A queue whose one group is ordered is made '
                    'by create_queue(..., ordered => true).', s.queue_name, s.group_name))::weir.finding;
        else
            return next row('warning', 'no_consumer', s.queue_name, s.group_name, s.waiting || ' waiting',
                format('Nobody receives: what waits could have been delivered for %s.%s', v_long,
                    case when s.expired > 0 then format(
                        ' %s of it was in the hands of consumers whose lease has ended.', s.expired) end),
                format('Start consumers of the group, or look why they have stopped; pause the group, or select '
                    'weir.drop_group(%L, %L), when nobody needs it.', s.queue_name, s.group_name))::weir.finding;
        end if;
    elsif s.waiting >= 1000 and s.oldest_age > interval '1 minute' and s.sent_rate > 1.1 * s.delivered_rate then
        return next row('warning', 'falls_behind', s.queue_name, s.group_name,
            format('%s in, %s out a second', round(s.sent_rate::numeric, 1), round(s.delivered_rate::numeric, 1)),
            format('More is sent than consumed: %s wait, the first for %s.', s.waiting, v_long),
            'Run more consumers, or let each receive more at once; or bound the queue with backlog_max.')::weir.finding;
    end if;
    if s.expiries >= 3 then
        return next row('warning', 'leases_expire', s.queue_name, s.group_name, s.expiries || ' claims',
            'Of the last claims, of 10 minutes at most, so many ended because their lease did, and their messages were '
                'delivered again: consumers die, or take longer than they have leased.',
            'Look why consumers end; lease for longer, or extend while they work.')::weir.finding;
    end if;
    if s.hot_key_share > 0.5 then
        return next row('warning', 'hot_key', s.queue_name, s.group_name, left(s.hot_key, 100),
            format('This key has %s %% of the %s messages that wait, and its messages go one after the other.',
                round((s.hot_key_share * 100)::numeric), s.waiting + s.parked),
            'Make its handler quicker, give its messages finer keys, or use an unordered group.')::weir.finding;
    end if;
    if s.held_segments > 0 then
        return next row('warning', 'holds_segments', s.queue_name, s.group_name, s.held_segments || ' segments',
            format('The group lags by so much that the log "%s" cannot give back what others have finished.', s.log),
            format('Run more consumers, select weir.drop_group(%1$L, %2$L) when nobody needs it, or give the queue a '
                'log of its own: select weir.create_log(''...''); select weir.move_queue(%1$L, ''...'').', s.queue_name,
                s.group_name))::weir.finding;
    end if;
    if s.dead >= 100 then
        return next row('warning', 'dead_letters', s.queue_name, s.group_name, s.dead || ' dead letters',
            'Messages of the group fail for good.',
            format('Read the reasons: select * from weir.dead_letters(%L, %L); then redrive or discard them.',
                s.queue_name, s.group_name))::weir.finding;
    end if;
end
$$;
