-- weir_internal.examine_queue(queue_name)
-- What is wrong with a queue: see weir.doctor.
--
-- Parameters:
--   queue_name  the queue
-- Returns: findings.
-- Raises: WR001, WR012, WR016
-- Locks: ACCESS SHARE on the queue's tables.
create or replace function weir_internal.examine_queue(queue_name text)
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    s weir.group_stats;
    g weir_internal.groups;
    f record;
    v_now timestamptz := weir_internal.clock();
    v_closed timestamptz := (select min(w.sealed_at) from weir_internal.segments w
                             where w.queue_no = q.no and w.freed_by is null);
begin
    return query select * from weir_internal.examine_relations(q);
    for s in select * from weir_internal.stats(q.name) loop
        select * into g from weir_internal.groups w where w.queue_no = q.no and w.name = s.group_name;
        if (g.paused or g.queue_paused) and s.oldest_age > interval '10 minutes' then
            return next row('warning', 'paused_group', q.name, g.name, s.waiting || ' waiting',
                'The group is paused, and what is sent meanwhile is kept for it.',
                format('select weir.resume(%L, %L), or drop the group.', q.name, g.name))::weir.finding;
        elsif s.oldest_age > interval '10 minutes' and s.held_by is not null then
            return next row('warning', 'limit_starves', q.name, g.name, s.held_by,
                format('The group is held back by its own limit, and its oldest message has waited for %s.',
                    date_trunc('second', s.oldest_age)),
                format('If it may do more: select weir.configure_group(%L, %L, %s).', q.name, g.name,
                    s.held_by || '_max => ...')
                )::weir.finding;
        elsif s.oldest_age > interval '10 minutes' and v_closed < v_now - interval '10 minutes'
            and s.blocked_by ~ ('^not read by (.*, )?' || regexp_replace(g.name, '([.])', '\\\1', 'g') || '(,|$)') then
            return next row('warning', 'stuck_group', q.name, g.name, pg_size_pretty(s.bytes),
                format('The group has not read what is %s old; nothing of the queue behind that can be given back.',
                    date_trunc('second', s.oldest_age)),
                format('Run more consumers, or select weir.drop_group(%L, %L) when nobody needs it.',
                    q.name, g.name))::weir.finding;
        end if;
        if s.dead >= 100 then
            return next row('warning', 'dead_letters', q.name, g.name, s.dead || ' dead letters',
                'Messages of the group fail for good.',
                format('Read the reasons: select * from weir.dead_letters(%L, %L); then redrive or discard them.',
                    q.name, g.name))::weir.finding;
        end if;
    end loop;
    if s.blocker_age > interval '1 minute' or s.blocked_by ~ '^prepared' then
        return next row('warning', 'transaction_keeps_segment', q.name, null, s.blocked_by,
            format('It has been open for %s; what it touched cannot be given back. Last statement: %s',
                date_trunc('second', s.blocker_age), left(s.blocker_query, 200)),
            case when s.blocked_by ~ '^pg_dump' then
                'Wait for the dump to end. If it is none, give the session another application_name.'
            else coalesce(format('End it: select pg_terminate_backend(%s).', s.blocker_pid),
                'COMMIT PREPARED or ROLLBACK PREPARED it.') end)::weir.finding;
    end if;
    for f in
        select l.pid, v_now - a.xact_start as age, a.query, count(*) as lanes
        from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = 'advisory' and l.granted and l.objsubid = 2
            and l.database = (select oid from pg_database where datname = current_database())
            and l.classid::bigint = weir_internal.lock_class(q.no)
            and (l.objid < 16384 or l.objid between 4294950000 and 4294967294) -- a lane's, or a limited group's turn
            and a.xact_start < v_now - interval '1 minute'
        group by l.pid, a.xact_start, a.query
    loop
        return next row('error', 'transaction_holds_lanes', q.name, null, format('process %s', f.pid),
            format('It has received and not committed for %s: nobody else gets messages from its lanes (%s). '
                'Last statement: %s', date_trunc('second', f.age), f.lanes, left(f.query, 200)),
            format('Commit after each receive. To end it: select pg_terminate_backend(%s).', f.pid))::weir.finding;
    end loop;
    for f in
        select w.name, w.error from weir_internal.schedules w where w.queue_no = q.no and w.error is not null
    loop
        return next row('warning', 'schedule_fails', q.name, null, f.name,
            'The schedule is due and its job cannot be enqueued: ' || left(f.error, 200),
            'Cure that, or pause the schedule; it is tried again all the time.')::weir.finding;
    end loop;
    select max(p.at) as at, max(p.sent) as sent into f from weir_internal.samples p where p.queue_no = q.no;
    if f.at > v_now + interval '1 second' then
        return next row('error', 'clock_went_back', q.name, null, date_trunc('second', f.at - v_now)::text,
            'The server''s clock shows less than before. Leases last longer, delayed messages come later, by as much.',
            'Keep the clock synchronised by slewing, not by steps.')::weir.finding;
    elsif coalesce(f.at, q.created_at) < v_now - interval '5 minutes' and s.sent > coalesce(f.sent, 0) then
        return next row('warning', 'no_maintenance', q.name, null,
            date_trunc('second', v_now - coalesce(f.at, q.created_at))::text,
            'weir.maintain() has not seen the queue for so long: no space is given back.',
            'Have it called every second, by weir serve, an SDK worker or pg_cron, and look for errors there.'
            )::weir.finding;
    end if;
end
$$;
