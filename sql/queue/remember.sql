-- remember
-- Template of weir_internal.<q>_remember: notes dedup keys with the ids of their messages, or tells which ids they were
-- noted with within the window.
--
-- The keys are in a ring of two tables, <q>_dedup_0 and 1. Its state is the sequence <q>_dedup_ring: the microseconds
-- since 1970 when the state began, times 6, plus 3 when table 1 is the open one, plus what the other table is:
--   0  just left: somebody may still write to it
--   1  sealed: what is in it is committed
--   2  forgotten: all of it is older than the window, and it may be truncated
-- weir_internal.rotate_dedup turns it.
--
-- A key is noted by the unique index of the open table: whoever comes second waits there until the first has committed
-- or rolled back. The other table is only read; while it may have writers, and in a transaction whose fixed snapshot
-- may hide some of its rows, those are waited for (<q>_await). All of it holds only if the ring did not turn meanwhile.
-- So the ring is looked at again at the end, as a reader of a seqlock does; if it turned, what was noted is taken back
-- and everything done anew.
--
-- Parameters:
--   p_keys  digests, no two equal, ascending, so that two senders of several keys do not wait for each other
--   p_ids   one a key
-- Returns: an id a key: that of p_ids when it was noted now, else the one that it was noted with.
-- Raises: 40001 where a fixed snapshot hides a row that counts; 40P01
-- Locks: ROW EXCLUSIVE on the open table, ACCESS SHARE on the other, and the keys: until the transaction ends.
insert into weir_internal.templates (name, body) values ('remember', $template$
create or replace function weir_internal.{q}_remember(p_keys uuid[], p_ids bigint[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $body$
declare
    v_now timestamptz := weir_internal.clock(); -- before the ring is read: no row is younger than a later state
    v_since timestamptz := v_now - interval '{dedup_window}';
    v_ring bigint;
    v_open int;
    v_first bigint[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_dedup_ring');
        v_open := v_ring / 3 % 2;
        v_first := array_fill(null::bigint, array[cardinality(p_keys)]);
        if v_ring % 3 = 0 or v_ring % 3 = 1
            and current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
            perform weir_internal.{q}_await(p_keys, 1 - v_open);
        end if;
        --{ 2
        {if} v_ring % 3 < 2 and v_open <> {k} then
            v_first := array(
                select (select d.id from weir_internal.{q}_dedup_{k} d where d.key = u.key and d.at > v_since)
                from unnest(p_keys) as u (key));
        --}
        end if;
        --{ 2
        {if} v_open = {k} then
            insert into weir_internal.{q}_dedup_{k} (key, id, at)
            select u.key, u.id, v_now from unnest(p_keys, p_ids, v_first) as u (key, id, first) where u.first is null
            on conflict (key) do nothing;
            update weir_internal.{q}_dedup_{k} d set id = u.id, at = v_now -- maintain is late: it is still there
            from unnest(p_keys, p_ids, v_first) as u (key, id, first)
            where u.first is null and d.key = u.key and d.at <= v_since;
            v_first := array(
                select coalesce(u.first, (select d.id from weir_internal.{q}_dedup_{k} d where d.key = u.key))
                from unnest(p_keys, v_first) as u (key, first));
        --}
        end if;
        if pg_sequence_last_value('weir_internal.{q}_dedup_ring') = v_ring
            and array_position(v_first, null) is null then
            return v_first;
        end if;
        --{ 2
        {if} v_open = {k} then
            delete from weir_internal.{q}_dedup_{k} d using unnest(p_keys, p_ids) as u (key, id)
            where d.key = u.key and d.id = u.id;
        --}
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
