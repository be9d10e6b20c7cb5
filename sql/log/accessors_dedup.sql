-- weir_log.known_keys_0 .. 1, note_keys_0 .. 1, known_jobs_0 .. 1, note_jobs_0 .. 1, drop_keys_0 .. 1, wait_keys_0 .. 1
-- The statements that must name one table of the ring of dedup keys: the same text for each. To a fixed snapshot a key
-- that was taken back by another transaction since stands there still, beside the one that was noted now; it is older.
--
-- Parameters:
--   p_queue, q  the queue
--   p_keys      digests, no two equal, ascending
--   p_ids       one a key: the message that takes it
--   p_first     one a key: the message that has it already, null = it may be taken
--   p_now       the time
--   p_since     dedup keys that were sent earlier do not count
--   p_until     until when the keys of unique jobs count
-- Returns: known_*: one element a key, the message that has it, or null. note_*: one element a key, the message that
--   has it now; null where it was taken back meanwhile.
-- Raises: note_*, wait_keys: 40001 where a fixed snapshot hides a row of one of the keys; 40P01
-- Locks: ACCESS SHARE or ROW EXCLUSIVE on that table, and the keys, until the transaction ends.
do $do$
begin
    for k in 0 .. 1 loop
        execute format($text$
create or replace function weir_log.known_keys_%1$s(p_queue int, p_keys uuid[], p_since timestamptz)
returns bigint[]
language plpgsql
as $body$
begin
    return array(
        select (select max(d.id) from weir_log.dedup_%1$s d
                where d.queue_no = p_queue and d.key = u.key and d.at > p_since)
        from unnest(p_keys) with ordinality u (key, i) order by u.i);
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.note_keys_%1$s(
    p_queue int, p_keys uuid[], p_ids bigint[], p_first bigint[], p_now timestamptz, p_since timestamptz)
returns bigint[]
language plpgsql
as $body$
declare
    v_key uuid;
    v_id bigint;
begin
    insert into weir_log.dedup_%1$s (queue_no, key, id, at)
    select p_queue, u.key, u.id, p_now
    from unnest(p_keys, p_ids, p_first) with ordinality u (key, id, first, i) where u.first is null order by u.i
    on conflict (queue_no, key) do nothing;
    for v_key, v_id in
        select u.key, u.id from unnest(p_keys, p_ids, p_first) with ordinality u (key, id, first, i)
        where u.first is null
            and exists (select from weir_log.dedup_%1$s d
                        where d.queue_no = p_queue and d.key = u.key and d.at <= p_since)
        order by u.i
    loop -- it counts no more, and is still there
        update weir_log.dedup_%1$s d set id = v_id, at = p_now
        where d.queue_no = p_queue and d.key = v_key and d.at <= p_since;
    end loop;
    return array(
        select coalesce(u.first, (
            select max(d.id) from weir_log.dedup_%1$s d where d.queue_no = p_queue and d.key = u.key))
        from unnest(p_keys, p_first) with ordinality u (key, first, i) order by u.i);
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.known_jobs_%1$s(q weir_internal.queues, p_keys uuid[], p_now timestamptz)
returns bigint[]
language plpgsql
as $body$
declare
    v_ids bigint[];
    v_txids xid8[];
begin
    select array_agg(d.id order by u.i), array_agg(d.txid order by u.i) into v_ids, v_txids
    from unnest(p_keys) with ordinality u (key, i)
    left join lateral (
        select t.id, case when t.at = 'infinity' then t.txid end as txid
        from weir_log.dedup_%1$s t where t.queue_no = q.no and t.key = u.key and t.at > p_now) d on true;
    return weir_log.unfinished_jobs(q, v_ids, v_txids);
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.note_jobs_%1$s(
    q weir_internal.queues, p_keys uuid[], p_ids bigint[], p_first bigint[], p_until timestamptz, p_now timestamptz)
returns bigint[]
language plpgsql
as $body$
declare
    v_seen bigint[];  -- the job that is noted with the key
    v_live bigint[];
    v_txids xid8[];
    v_key uuid;
    v_id bigint;
    v_old bigint;
begin
    insert into weir_log.dedup_%1$s (queue_no, key, id, at, txid)
    select q.no, u.key, u.id, p_until, pg_current_xact_id()
    from unnest(p_keys, p_ids, p_first) with ordinality u (key, id, first, i) where u.first is null order by u.i
    on conflict (queue_no, key) do nothing;
    select array_agg(d.id order by u.i), array_agg(case when d.at > p_now then d.id end order by u.i),
        array_agg(case when d.at = 'infinity' then d.txid end order by u.i)
    into v_seen, v_live, v_txids
    from unnest(p_keys, p_ids, p_first) with ordinality u (key, id, first, i)
    left join lateral (
        select t.* from weir_log.dedup_%1$s t
        where u.first is null and t.queue_no = q.no and t.key = u.key and t.id <> u.id) d on true;
    v_live := weir_log.unfinished_jobs(q, v_live, v_txids);
    for v_key, v_id, v_old in
        select u.key, u.id, u.seen from unnest(p_keys, p_ids, v_seen, v_live) with ordinality u (key, id, seen, live, i)
        where u.seen is not null and u.live is null order by u.i
    loop
        update weir_log.dedup_%1$s d set id = v_id, at = p_until, txid = pg_current_xact_id()
        where d.queue_no = q.no and d.key = v_key and d.id = v_old;
    end loop;
    return array(
        select coalesce(u.first, (select d.id from weir_log.dedup_%1$s d where d.queue_no = q.no and d.key = u.key))
        from unnest(p_keys, p_first) with ordinality u (key, first, i) order by u.i);
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.drop_keys_%1$s(p_queue int, p_keys uuid[], p_ids bigint[])
returns void
language plpgsql
as $body$
begin
    for i in 1 .. cardinality(p_keys) loop
        delete from weir_log.dedup_%1$s d where d.queue_no = p_queue and d.key = p_keys[i] and d.id = p_ids[i];
    end loop;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.wait_keys_%1$s(p_queue int, p_keys uuid[])
returns void
language plpgsql
as $body$
begin
    insert into weir_log.dedup_%1$s (queue_no, key, id, at)
    select p_queue, u.key, 0, '-infinity' from unnest(p_keys) with ordinality u (key, i) order by u.i
    on conflict (queue_no, key) do nothing;
end
$body$$text$, k);
    end loop;
end
$do$;
