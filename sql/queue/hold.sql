-- hold
-- Template of weir_internal.<q>_hold: takes the keys of unique jobs, or tells which jobs have them. The keys stand in
-- the ring of the dedup keys (see the template remember), with digests that no dedup key has. Of such a row `at` is
-- until when it counts, 'infinity' = until its job is finished, which is found out by looking at where the job is. So
-- nothing has to give a key back.
--
-- A key is taken by the unique index of the open table: whoever comes second waits there until the first has committed
-- or rolled back. A row that counts no more is taken over, by whoever is first to change it.
--
-- Parameters:
--   p_keys   digests, no two equal, ascending, so that two senders of several keys do not wait for each other
--   p_ids    one a key: the job that takes it
--   p_until  until when the keys count
-- Returns: an id a key: that of p_ids when it was taken now, else the job that has it.
-- Raises: 40P01
-- Locks: ROW EXCLUSIVE on the open table, ACCESS SHARE on the other, and the keys: until the transaction ends.
insert into weir_internal.templates (name, body) values ('hold', $template$
create or replace function weir_internal.{q}_hold(p_keys uuid[], p_ids bigint[], p_until timestamptz)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $body$
declare
    v_now timestamptz := weir_internal.clock();
    v_ring bigint;
    v_open int;
    v_first bigint[]; -- the job that has the key
    v_seen bigint[];  -- the job that is noted with it
    v_held bigint[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_dedup_ring');
        v_open := v_ring / 3 % 2;
        v_first := array_fill(null::bigint, array[cardinality(p_keys)]);
        if v_ring % 3 = 0 then
            perform weir_internal.{q}_await(p_keys, 1 - v_open);
        end if;
        --{ 2
        {if} v_ring % 3 < 2 and v_open <> {k} then
            select weir_internal.still_held({no}, array_agg(case when d.at > v_now then d.id end order by u.i),
                array_agg(case when d.at = 'infinity' then d.txid end order by u.i))
            into v_first
            from unnest(p_keys) with ordinality u (key, i)
            left join weir_internal.{q}_dedup_{k} d on d.key = u.key;
        --}
        end if;
        --{ 2
        {if} v_open = {k} then
            insert into weir_internal.{q}_dedup_{k} (key, id, at, txid)
            select u.key, u.id, p_until, pg_current_xact_id() from unnest(p_keys, p_ids, v_first) u (key, id, first)
            where u.first is null
            on conflict (key) do nothing;
            select array_agg(d.id order by u.i), weir_internal.still_held({no},
                array_agg(case when d.at > v_now then d.id end order by u.i),
                array_agg(case when d.at = 'infinity' then d.txid end order by u.i))
            into v_seen, v_held
            from unnest(p_keys, p_ids, v_first) with ordinality u (key, id, first, i)
            left join weir_internal.{q}_dedup_{k} d on d.key = u.key and d.id <> u.id and u.first is null;
            update weir_internal.{q}_dedup_{k} d set id = u.id, at = p_until, txid = pg_current_xact_id()
            from unnest(p_keys, p_ids, v_seen, v_held) u (key, id, seen, held)
            where d.key = u.key and d.id = u.seen and u.held is null;
            v_first := array(
                select coalesce(u.first, (select d.id from weir_internal.{q}_dedup_{k} d where d.key = u.key))
                from unnest(p_keys, v_first) u (key, first));
        --}
        end if;
        if pg_sequence_last_value('weir_internal.{q}_dedup_ring') = v_ring
            and array_position(v_first, null) is null then
            return v_first;
        end if;
        --{ 2
        {if} v_open = {k} then
            delete from weir_internal.{q}_dedup_{k} d using unnest(p_keys, p_ids) u (key, id)
            where d.key = u.key and d.id = u.id;
        --}
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
