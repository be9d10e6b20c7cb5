-- weir_log.take_delayed(q, p_max), weir_log.add_delayed(q, p_rows), weir_log.take_keys(q, p_max),
-- weir_log.add_keys(q, p_keys, p_ids, p_times, p_txids), weir_log.take_events(q, p_max), weir_log.begin_here(q)
-- What a queue that is moving takes along, in batches: take_... removes it from the log that the queue is leaving, and
-- add_... puts it into the other, in one transaction. It is done when nobody sends to the first any more.
--
-- take_delayed: messages that are not due. Those that are, every group claims where they are. One that some groups have
-- purged, or that is too old for them, goes along once for each of the others. take_keys: dedup keys, and keys of
-- unique jobs, that still count; those of the open table first, since the other may have a key's job from before.
-- take_events: events of tracked jobs. begin_here: puts the groups behind all that this
-- log may still have of the queue, from a time when it was here before.
--
-- Parameters:
--   q      the queue
--   p_max  so many rows at most
--   p_rows, p_keys, p_ids, p_times, p_txids  what was taken
-- Returns: what was taken; null, or null arrays: there is nothing. add_keys: false: the ring has turned meanwhile, and
--   some of it was not added. Else nothing.
-- Raises: add_keys: 55P03, when somebody takes one of the keys at this moment
-- Locks: take_delayed: the locks of the groups' lanes -1, tried; the rows; until the transaction ends.
create or replace function weir_log.take_delayed(q weir_internal.queues, p_max int)
returns weir_internal.delayed_row[]
language plpgsql
as $$
declare
    g weir_internal.groups;
    v_groups weir_internal.groups[] := '{}';
    v_rows weir_internal.delayed_row[];
    v_bound timestamptz := weir_internal.clock() + interval '1 second';
begin
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        if not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, -1, 1)) then
            return null;
        end if;
        v_groups := array_append(v_groups, g);
        v_bound := greatest(v_bound, (weir_log.cursor(g, -1, 1)).due_at);
    end loop;
    with gone as (
        delete from weir_log.delayed where ctid = any(array(
            select d.ctid from weir_log.delayed d where d.queue_no = q.no and d.due_at > v_bound
            order by d.due_at, d.id limit p_max))
        returning *),
    wanted as (
        select d, array(select w.no from unnest(v_groups) w
                        where weir_log.is_for(w, row(d.*)::weir_log.delayed)) as groups
        from gone d)
    select array_agg(row(null, q.no, n.group_no, (w.d).due_at, (w.d).id, (w.d).attempts, (w.d).key, (w.d).headers,
                         (w.d).payload, (w.d).body, (w.d).enqueued_at, (w.d).reason)::weir_internal.delayed_row
                     order by (w.d).due_at, (w.d).id)
    into v_rows from wanted w
    cross join lateral (
        select (w.d).group_no where (w.d).group_no is null and cardinality(w.groups) = cardinality(v_groups)
        union all
        select u from unnest(w.groups) u
        where (w.d).group_no is not null or cardinality(w.groups) < cardinality(v_groups)) n (group_no);
    return v_rows;
end
$$;
create or replace function weir_log.add_delayed(q weir_internal.queues, p_rows weir_internal.delayed_row[])
returns void
language plpgsql
as $$
declare
    v_first timestamptz := weir_log.due_at(interval '0');
begin
    perform weir_log.mark_special(q);
    insert into weir_log.delayed
    select pg_current_xact_id(), q.no, r.group_no, greatest(r.due_at, v_first), r.id, r.attempts, r.key, r.headers,
        r.payload, r.body, r.enqueued_at, r.reason
    from unnest(p_rows) r;
end
$$;
create or replace function weir_log.take_keys(
    q weir_internal.queues, p_max int, out keys uuid[], out ids bigint[], out times timestamptz[], out txids xid8[])
language plpgsql
as $$
declare
    v_open int := weir_internal.open_ring_table(pg_sequence_last_value('weir_log.dedup_ring'));
begin
    foreach v_open in array array[v_open, 1 - v_open] loop
        execute format(
            'with gone as (
                 delete from weir_log.dedup_%1$s where ctid = any(array(
                     select d.ctid from weir_log.dedup_%1$s d
                     where d.queue_no = $1 order by d.queue_no, d.key limit $2))
                 returning *)
             select array_agg(g.key order by g.key), array_agg(g.id order by g.key), array_agg(g.at order by g.key),
                 array_agg(g.txid order by g.key)
             from gone g', v_open)
        into keys, ids, times, txids using q.no, p_max;
        exit when keys is not null;
    end loop;
end
$$;
create or replace function weir_log.add_keys(
    q weir_internal.queues, p_keys uuid[], p_ids bigint[], p_times timestamptz[], p_txids xid8[])
returns boolean
language plpgsql
set lock_timeout = '20ms'
as $$
declare
    v_ring bigint := pg_sequence_last_value('weir_log.dedup_ring');
begin
    execute format(
        'insert into weir_log.dedup_%s (queue_no, key, id, at, txid)
         select $1, u.key, u.id, u.at, u.txid from unnest($2, $3, $4, $5) u (key, id, at, txid)
         where case when u.txid is null then u.at > $6 - $7::interval else u.at > $6 end order by u.key
         on conflict (queue_no, key) do nothing', weir_internal.open_ring_table(v_ring))
    using q.no, p_keys, p_ids, p_times, p_txids, weir_internal.clock(), q.dedup_window;
    return pg_sequence_last_value('weir_log.dedup_ring') = v_ring;
end
$$;
create or replace function weir_log.take_events(q weir_internal.queues, p_max int)
returns weir_internal.job_event[]
language plpgsql
as $$
declare
    v_events weir_internal.job_event[];
begin
    for k in 0 .. 1 loop
        execute format(
            'with gone as (
                 delete from weir_log.jobs_%1$s where ctid = any(array(
                     select e.ctid from weir_log.jobs_%1$s e where e.queue_no = $1 limit $2))
                 returning *)
             select array_agg(row(g.*)::weir_internal.job_event) from gone g', k)
        into v_events using q.no, p_max;
        exit when v_events is not null;
    end loop;
    return v_events;
end
$$;
create or replace function weir_log.begin_here(q weir_internal.queues)
returns void
language plpgsql
as $$
declare
    g weir_internal.groups;
begin
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        perform weir_log.move_cursors(q, g, weir_log.end_place());
    end loop;
end
$$;
