-- weir_log.purge(p_queue, p_group), weir_log.purge_group(q, g)
-- Purges a group, or each group of a queue: moves every cursor to what is not committed at this moment, so that one
-- snapshot divides what is dropped from what is not. What is not due yet stays in `delayed`, because it may be for
-- other groups too; groups.purged says that it is not for this one.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group; null = all groups
--   q, g     queue and group; the caller holds the lock of the queue's administration
-- Returns: how many messages were dropped.
-- Raises: WR001, WR003, WR012, WR019
-- Locks: the queue's administration; the limit lock of a limited group, the locks of the groups' lanes and claims;
-- until the transaction ends.
create or replace function weir_log.purge(p_queue text, p_group text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    g weir_internal.groups;
    v_count bigint := 0;
begin
    perform weir_internal.check_isolation('purge');
    if p_group is not null then
        g := weir_internal.find_group(q, p_group);
    end if;
    for g in select * from weir_internal.groups w where w.queue_no = q.no and w.no = coalesce(g.no, w.no) order by w.no
    loop
        v_count := v_count + weir_log.purge_group(q, weir_internal.apply_ttl(g));
    end loop;
    return v_count;
end
$$;
create or replace function weir_log.purge_group(q weir_internal.queues, g weir_internal.groups)
returns bigint
language plpgsql
as $$
declare
    p weir_internal.place;
    c weir_internal.claim;
    v_waiting bigint;
    v_delayed bigint;
    v_claimed int8multirange;
    v_parked bigint;
begin
    perform pg_advisory_xact_lock(weir_internal.limit_lock(g.no)) where g.limited;
    perform weir_log.lock_lanes(q, g);
    perform weir_log.lock_claims(q, g);
    p := weir_log.end_place();
    select coalesce(sum(case when w.after = 0 then w.n
                             when w.ids is null then least(w.n, w.id - w.after)
                             else (select count(*) from unnest(w.ids) i where i > w.after) end), 0)
    into v_waiting
    from weir_log.group_cursors(q, g) k
    cross join lateral weir_log.waiting_records(q, g, k, null) w
    where pg_visible_in_snapshot(w.txid, p.cur);
    c := weir_log.cursor(g, -1, 1);
    select count(*) into v_delayed from weir_log.delayed d
    where d.queue_no = q.no and weir_log.is_for(g, d) and pg_visible_in_snapshot(d.txid, p.cur)
        and not ((d.due_at, d.id) <= (c.due_at, c.due_id) and pg_visible_in_snapshot(d.txid, c.cur));
    v_claimed := weir_log.end_claims(q, g);
    with gone as (delete from weir_log.parked where group_no = g.no returning id)
    select count(*) into v_parked from gone where not id <@ v_claimed;
    if g.keyed then
        v_parked := v_parked + (select count(*) from weir_log.key_queue_messages(g));
        perform weir_log.clear_key_queues(g);
    end if;
    perform weir_log.move_cursors(q, g, p);
    update weir_internal.groups set purged = p.cur where no = g.no;
    return v_waiting + v_delayed + v_parked + weir_internal.count_ids(v_claimed);
end
$$;
