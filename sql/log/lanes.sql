-- weir_log.lanes(q), weir_log.lanes_now(q), weir_log.group_cursors(q, g)
-- The lanes of a queue, and the cursors of a group in them: of lanes, and of the stripes of those that are split.
-- lanes_now: for who has read the queue some time ago. That a key was sent comes from `keyed_queues` into the queue's
-- row, so both are read by one snapshot.
--
-- Parameters:
--   q, g  queue and group
-- Returns: lanes, lanes_now: numbers of lanes, the one aside first; lanes of keys only when a key was sent.
--   group_cursors: the newest rows.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.lanes(q weir_internal.queues)
returns int[]
language plpgsql stable
as $$
declare
    v_lanes int[] := array(select generate_series(-1, q.priorities - 1));
begin
    if q.keyed or exists (select from weir_internal.keyed_queues k where k.queue_no = q.no) then
        v_lanes := v_lanes || array(
            select generate_series(q.key_epochs[1], q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes - 1));
    end if;
    return v_lanes;
end
$$;
create or replace function weir_log.lanes_now(q weir_internal.queues)
returns int[]
language plpgsql stable
as $$
declare
    n weir_internal.queues;
begin
    select * into n from weir_internal.queues w where w.no = q.no;
    return weir_log.lanes(case when found then n else q end);
end
$$;
create or replace function weir_log.group_cursors(q weir_internal.queues, g weir_internal.groups)
returns setof weir_internal.claim
language plpgsql
as $$
declare
    c weir_internal.claim;
    v_lane int;
begin
    foreach v_lane in array weir_log.lanes_now(q) loop
        c := weir_log.cursor(g, v_lane, 1);
        return next c;
        if c.width is not null then
            return query select s.* from generate_series(c.width, 2 * c.width - 1) i, weir_log.cursor(g, v_lane, i) s;
        end if;
    end loop;
end
$$;
