-- weir_log.trim_key_queues(), weir_log.trim_group_key_queues(g)
-- Gives back the space of what has left key queues: by TRUNCATE when nothing waits in those of any group and nothing is
-- claimed that counts for a limit, else, once it is much, by deleting some of it. trim_group_key_queues deletes what
-- nobody needs: of up to 1,000 turns that were taken, the messages of their key queues that have left and how those
-- stood before; and what was recorded of up to 5,000 deliveries that are over. Its caller holds the group's lock.
--
-- Parameters:
--   g  the group
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: the locks of all groups with key queues, tried; ACCESS EXCLUSIVE on `key_queues` and `key_turns`, tried, when
-- they are truncated, else ROW EXCLUSIVE. Until the transaction ends.
create or replace function weir_log.trim_key_queues()
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    g weir_internal.groups;
    v_looked int[] := '{}';
    v_idle boolean := true;
    v_trimmed int := 0;
begin
    if pg_relation_size('weir_log.key_turns') = 0 then
        return 0;
    end if;
    for g in
        select w.* from weir_internal.groups w join weir_internal.queues q on q.no = w.queue_no
        join weir_internal.logs h on h.schema_name = 'weir_log' and h.no in (q.log_no, q.moving_from)
        where w.keyed
        order by w.no
    loop
        if not exists (select from weir_log.key_turns t where t.group_no = g.no) then
            continue;
        elsif not pg_try_advisory_xact_lock(weir_internal.limit_lock(g.no)) then
            v_idle := false;
            continue;
        end if;
        v_looked := v_looked || g.no;
        g := weir_log.read_again(g);
        continue when g.no is null; -- it has no key queues any more
        v_idle := v_idle and not weir_log.has_key_turn(g) and (g.key_concurrency_max is null
            or (weir_log.inflight_claims(weir_log.inflight_of(g), weir_internal.clock())).claims is null);
        if pg_relation_size('weir_log.key_queues') + pg_relation_size('weir_log.key_turns') > 8388608 then
            v_trimmed := greatest(v_trimmed, weir_log.trim_group_key_queues(g));
        end if;
    end loop;
    if v_idle then
        begin
            lock table weir_log.key_queues, weir_log.key_turns in access exclusive mode nowait;
            if not exists (select from weir_internal.groups w -- one that has begun meanwhile
                           where w.keyed and w.no <> all(v_looked)
                               and exists (select from weir_log.key_turns t where t.group_no = w.no)) then
                truncate weir_log.key_queues, weir_log.key_turns;
                return 1;
            end if;
        exception
            when lock_not_available then
                null;
        end;
    end if;
    return v_trimmed;
end
$$;
create or replace function weir_log.trim_group_key_queues(g weir_internal.groups)
returns int
language plpgsql
as $$
declare
    v_served bigint;
    v_needed bigint; -- the oldest delivery that something on the list of claims is of
    v_names text[];
    v_count bigint;
    v_sum bigint := 0;
begin
    select t.pos, t.no into v_served, v_needed
    from weir_log.key_turns t where t.group_no = g.no and t.key_queue = '' order by t.no desc limit 1;
    v_names := array(
        select distinct t.key_queue
        from (select e.key_queue from weir_log.key_turns e
              where e.group_no = g.no and e.state = 'w' and e.no <= v_served order by e.no limit 1000) t);
    delete from weir_log.key_queues where ctid = any(array(
        select m.ctid from unnest(v_names) u
        cross join lateral (select t.pos from weir_log.key_turns t
                            where t.group_no = g.no and t.key_queue = u order by t.no desc limit 1) n
        cross join lateral (select e.ctid from weir_log.key_queues e
                            where e.group_no = g.no and e.key_queue = u and e.no <= n.pos) m));
    get diagnostics v_count = row_count;
    v_sum := v_sum + v_count;
    delete from weir_log.key_turns where ctid = any(array(
        select m.ctid from unnest(v_names) u
        cross join lateral (select t.no, t.state from weir_log.key_turns t
                            where t.group_no = g.no and t.key_queue = u order by t.no desc limit 1) n
        cross join lateral (select e.ctid from weir_log.key_turns e
                            where e.group_no = g.no and e.key_queue = u and (e.no < n.no or n.state = 'e')) m));
    get diagnostics v_count = row_count;
    v_sum := v_sum + v_count;
    if g.key_concurrency_max is not null then
        select least(v_needed, min(t.no)) into v_needed
        from unnest(weir_log.inflight_of(g)) c (no)
        cross join lateral (select e.no from weir_log.key_turns e
                            where e.group_no = g.no and e.key_queue = '' and e.no <= c.no
                            order by e.no desc limit 1) t;
    end if;
    delete from weir_log.key_turns where ctid = any(array(
        select e.ctid from weir_log.key_turns e
        where e.group_no = g.no and e.key_queue = '' and e.no < v_needed order by e.no limit 5000));
    get diagnostics v_count = row_count;
    return (v_sum + v_count > 0)::int;
end
$$;
