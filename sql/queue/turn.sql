-- turn
-- Template of weir_internal.<q>_turn: how many messages of a limited group may be claimed now. One transaction at a
-- time may claim in such a group, so that what it counts is right until it commits. Without room it lets go again:
-- a transaction that goes on after an empty receive must not keep the group from others. Only queues with limited
-- groups have it, and <q>_has_aside.
--
-- An expired claim makes room when its lock is to be had: whoever extends or acknowledges it at this moment holds that.
--
-- Parameters:
--   p_group  number of the group
--   g        has_aside: the group
--   p_now    has_aside: the time
-- Returns: turn: a row of the claim log, as the next tally begins: n, how many messages may be claimed; ids, the
--   unfinished claims; pos, the theoretical arrival time of weir_internal.rate_room. slot and n are null when nothing
--   may be claimed, or somebody else had the turn for 100 ms. has_aside: whether something is due in `later`,
--   parked or in a line that can be served.
-- Raises: WR016
-- Locks: the group's turn: advisory (lock_class(queue), -2 - group number), waited for up to 100 ms; the advisory locks
-- of expired claims, tried; both until the transaction ends.
insert into weir_internal.templates (name, body) values ('turn', $template$
--{ {throttled}
create or replace function weir_internal.{q}_has_aside(g weir_internal.groups, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    return pg_sequence_last_value('weir_internal.{q}_later_clock') > 0 and weir_internal.{q}_is_due(
            g, weir_internal.{q}_cursor((g.no * ({lanes} + 1) + {lanes})::smallint), p_now)
        or g.ordered and exists (
            select from weir_internal.{q}_parked
            where group_id in (g.id, -g.id) and due_at <= p_now and holder is null)
--}
--{ {keyed}
        or g.keyed and weir_internal.{q}_asks_turn(g)
--}
--{ {throttled}
    ;
end
$body$;
create or replace function weir_internal.{q}_turn(p_group smallint)
returns weir_internal.claim
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    g weir_internal.groups;
    t weir_internal.claim;
    s record;
    h record;
    v_now timestamptz;
    v_expired bigint[];
    v_claimed int := 0;
begin
    if not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), -2 - p_group)
        and not weir_internal.wait_turn({no}, p_group) then
        raise exception 'not our turn' using errcode = 'raise_exception';
    end if;
    select * into g from weir_internal.groups where queue_no = {no} and no = p_group;
    v_now := weir_internal.clock();
    t.slot := -2 - p_group;
    t.what := 0;
    t.n := 10000;
    t.ids := '{}';
    if coalesce(g.concurrency_max, g.key_concurrency_max) is not null then
        select * into s from weir_internal.{q}_tally(p_group, v_now);
        if true = any(s.over) then
            v_expired := array(
                select u.id from unnest(s.claims, s.over) u (id, over)
                where u.over and pg_try_advisory_xact_lock(weir_internal.claim_lock({no}, u.id)));
            select * into h from weir_internal.{q}_held(v_expired);
            v_expired := array(select u.id from unnest(v_expired, h.held) u (id, held) where u.held is null);
        end if;
        select coalesce(range_agg(int8range(u.id, u.id + 1)), '{}'), coalesce(sum(u.n), 0) into t.ids, v_claimed
        from unnest(s.claims, s.lefts) u (id, n) where u.id <> all(coalesce(v_expired, '{}'));
        t.n := coalesce(g.concurrency_max - v_claimed, t.n);
        if t.n <= 0 and pg_sequence_last_value('weir_internal.{q}_held') = 0 then
            perform setval('weir_internal.{q}_held', 1);
        end if;
    end if;
    if g.rate_max is not null and t.n > 0 then
        select * into s from weir_internal.rate_room(g, v_now);
        t.n := least(t.n, s.room);
        t.pos := s.arrival;
        if s.room = 0 then -- where the clock went back it counts from now on
            perform setval(r, s.arrival) from (select ('weir_internal.{q}_rate_' || g.id)::regclass) u (r)
            where pg_sequence_last_value(r) > s.arrival;
        end if;
    end if;
    if t.n > 0 then
        return t;
    end if;
    raise exception 'held back' using errcode = 'raise_exception';
exception
    when raise_exception then
        return null;
end
$body$
--}
$template$) on conflict (name) do update set body = excluded.body;
