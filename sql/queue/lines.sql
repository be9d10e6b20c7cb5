-- lines
-- Template of the lines of groups that share their deliveries out among keys (groups.keyed). Every message such a group
-- reads is set aside: appended to the line of its key, in `lines`. A line that has messages has one row in `turns` that
-- says how it stands; those of what = 1 are the row in which lines wait for their turn. Nobody but the transaction that
-- has the group's turn (see <q>_turn) appends to either table, so what it reads there is right until it commits. Only
-- queues with such groups have these functions.
--
-- <q>_set_aside puts messages into their lines. <q>_flight counts what is claimed of each key: of the claims on the
-- group's tally, by what their deliveries recorded. <q>_freed tells the lines that waited for that and need no longer.
-- <q>_has_turn tells, without the group's turn, whether a line can be served.
--
-- Parameters:
--   g         the group
--   o         set_aside: messages as they would be delivered
--   p_claims  flight: the claims that count; null: those that have not expired
--   p_flight  stopped: what flight returned
-- Returns: set_aside: how many it left: 0, or all of a group that has no lines; flight: {line: messages} of each line
--   that has something on the tally; stopped: the lines, how far each is served, and whether it need not wait any
--   longer; has_turn, asks_turn: true or false.
-- Raises: WR016
-- Locks: set_aside: ROW EXCLUSIVE on `lines` and `turns`.
insert into weir_internal.templates (name, body) values ('lines', $template$
--{ {keyed}
create or replace function weir_internal.{q}_set_aside(g weir_internal.groups, o weir.message_record)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    if not g.keyed then
        return o.n;
    end if;
    with placed as materialized (
        insert into weir_internal.{q}_lines
        select g.id, coalesce('k' || u.key, 'l'), nextval('weir_internal.{q}_claim_ids'),
            coalesce(u.id, o.first_id + u.i - 1), coalesce(u.attempt, o.attempt) - 1, u.key, u.payload, u.headers,
            coalesce(u.enqueued_at, o.enqueued_at)
        from unnest(o.ids, o.attempts, o.keys, o.payloads, o.headers, o.enqueued_times)
            with ordinality u (id, attempt, key, payload, headers, enqueued_at, i)
        returning line, no)
    insert into weir_internal.{q}_turns (group_id, line, no, what, pos)
    select g.id, p.line, nextval('weir_internal.{q}_claim_ids'), 1, p.first - 1
    from (select line, min(no) as first from placed group by line) p
    left join lateral (
        select t.what from weir_internal.{q}_turns t
        where t.group_id = g.id and t.line = p.line order by t.no desc limit 1) n on true
    where coalesce(n.what, 3) = 3
    order by p.first;
    return 0;
end
$body$;
create or replace function weir_internal.{q}_flight(g weir_internal.groups, p_claims int8multirange)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_tally int8multirange := (weir_internal.{q}_cursor((-2 - g.no)::smallint)).ids;
    s record;
    v_ids int8multirange; -- what is claimed
begin
    if v_tally = '{}' then
        return '{}';
    end if;
    select * into s from weir_internal.{q}_tally(g.no, weir_internal.clock());
    v_ids := (
        select range_agg(m) from unnest(s.claims, s.rests, s.over) u (id, rest, over)
        cross join lateral unnest(u.rest) m
        where case when p_claims is null then not u.over else u.id <@ p_claims end);
    return (
        select coalesce(jsonb_object_agg(f.line, f.n), '{}')
        from (
            select m.line, count(distinct m.id) filter (where m.id <@ v_ids) as n
            from (
                select distinct t.no from (select distinct lower(r) >> 14 as no from unnest(v_tally) r) c
                cross join lateral (
                    select e.no from weir_internal.{q}_turns e
                    where e.group_id = g.id and e.line = '' and e.no <= c.no order by e.no desc limit 1) t) d
            cross join lateral (
                select e.ids, e.lines from weir_internal.{q}_turns e
                where e.group_id = g.id and e.line = '' and e.no = d.no limit 1) t
            cross join lateral unnest(t.ids, t.lines) m (id, line)
            group by m.line) f);
end
$body$;
create or replace function weir_internal.{q}_stopped(g weir_internal.groups, p_flight jsonb)
returns table (line text, pos bigint, freed boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
    return query
    select f.key, n.pos, f.value::int < g.key_concurrency_max
    from jsonb_each_text(p_flight) f
    cross join lateral (
        select t.what, t.pos from weir_internal.{q}_turns t
        where t.group_id = g.id and t.line = f.key order by t.no desc limit 1) n
    where n.what = 2;
end
$body$;
create or replace function weir_internal.{q}_has_turn(g weir_internal.groups)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_served bigint := coalesce((
        select t.pos from weir_internal.{q}_turns t
        where t.group_id = g.id and t.line = '' order by t.no desc limit 1), 0);
begin
    return exists (select from weir_internal.{q}_turns t where t.group_id = g.id and t.what = 1 and t.no > v_served)
        or g.key_concurrency_max is not null and exists (
            select from weir_internal.{q}_stopped(g, weir_internal.{q}_flight(g, null)) s where s.freed);
end
$body$;
create or replace function weir_internal.{q}_asks_turn(g weir_internal.groups)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    if weir_internal.{q}_has_turn(g) then
        return true;
    elsif g.key_concurrency_max is not null and pg_sequence_last_value('weir_internal.{q}_held') = 0
        and exists (select from weir_internal.{q}_stopped(g, weir_internal.{q}_flight(g, null))) then
        perform setval('weir_internal.{q}_held', 1);
    end if;
    return false;
end
$body$
--}
$template$) on conflict (name) do update set body = excluded.body;
