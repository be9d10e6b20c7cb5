-- weir_log.backlog(q, p_max), weir_log.backlog_of(q, g, p_max), weir_log.cursor_backlog(q, g, c, p_max),
-- weir_log.unclaimed(q, g, c, p_max)
-- How far behind the slowest group of a queue is: the messages that it has not finished, dead letters apart. What is
-- not claimed is counted in the log, so that neither rollbacks nor seeks nor what is too old leave an error behind.
--
-- Parameters:
--   q      the queue
--   g      the group
--   c      a cursor
--   p_max  where to stop counting: what is more is not told
-- Returns: how many, or somewhat more than p_max at least where they are more; 0 when the queue has no group.
-- cursor_backlog: of a cursor alone; unclaimed: what it has not claimed.
-- Raises: WR012 from a fixed snapshot that is older than the claim log's last turn.
-- Locks: ACCESS SHARE on the segments and the claim log.
create or replace function weir_log.backlog(q weir_internal.queues, p_max bigint)
returns bigint
language plpgsql
as $$
declare
    g weir_internal.groups;
    v_most bigint := 0;
    v_group bigint;
begin
    if not exists (select from weir_log.claims_2
                   where kind = 'c' and group_no = 0 and lane = 0 and stripe = 1) then
        perform weir_internal.check_isolation('send');
    end if;
    for g in select * from weir_internal.groups w where w.queue_no = q.no loop
        exit when v_most > p_max;
        if g.ttl > interval '0' then
            g := weir_internal.apply_ttl(g);
        end if;
        v_group := weir_log.backlog_of(q, g, p_max);
        if q.moving_from is not null then
            execute format('select $4 + %s.backlog_of($1, $2, $3)', weir_internal.moving_logs(q, 1))
            into v_group using q, g, p_max, v_group;
        end if;
        v_most := greatest(v_most, v_group);
    end loop;
    return v_most;
end
$$;
create or replace function weir_log.backlog_of(q weir_internal.queues, g weir_internal.groups, p_max bigint)
returns bigint
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, -1, 1);
    v_sum bigint;
    v_lanes int[] := array(select generate_series(0, q.priorities - 1));
    v_lane int;
begin
    v_sum := (select coalesce(sum(u.n), 0) from weir_log.unfinished(g.no, -1, 1, c.low, 'infinity', null) u)
        + (select count(*) from weir_log.late(q, g, c))
        + (select count(*) from (
               select from weir_log.delayed d
               where d.queue_no = q.no and (d.due_at, d.id) > (c.due_at, c.due_id) and weir_log.is_for(g, d)
               order by d.due_at, d.id limit p_max + 1) d);
    if g.ordered then
        v_sum := v_sum + (select count(*) from weir_log.parked k where k.group_no = g.no and k.holder is null);
    elsif g.keyed then
        v_sum := v_sum + (select count(*) from weir_log.in_key_queues k where k.group_no = g.no);
    end if;
    if q.keyed or exists (select from weir_internal.keyed_queues k where k.queue_no = q.no) then
        v_lanes := v_lanes || array(select generate_series(
            q.key_epochs[1], q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes - 1));
    end if;
    foreach v_lane in array v_lanes loop
        exit when v_sum > p_max;
        c := weir_log.cursor(g, v_lane, 1);
        v_sum := v_sum + weir_log.cursor_backlog(q, g, c, p_max);
        for i in 0 .. coalesce(c.width, 0) - 1 loop
            v_sum := v_sum + weir_log.cursor_backlog(q, g, weir_log.cursor(g, v_lane, c.width + i), p_max);
        end loop;
    end loop;
    return v_sum;
end
$$;
create or replace function weir_log.cursor_backlog(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_max bigint)
returns bigint
language plpgsql
as $$
begin
    return weir_log.unclaimed(q, g, c, p_max + 1) + (
        select coalesce(sum(u.n), 0) from weir_log.unfinished(g.no, c.lane, c.stripe, c.low, 'infinity', null) u);
end
$$;
create or replace function weir_log.unclaimed(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_max bigint)
returns bigint
language plpgsql
as $$
declare
    v_segments bigint[] := weir_log.ring_segments();
begin
    if c.width is not null then -- its stripes have the rest
        return 0;
    end if;
    return weir_log.waiting_0(c, q.no, v_segments[1], g.since, p_max)
        + weir_log.waiting_1(c, q.no, v_segments[2], g.since, p_max)
        + weir_log.waiting_2(c, q.no, v_segments[3], g.since, p_max)
        + weir_log.waiting_3(c, q.no, null, g.since, p_max);
end
$$;
