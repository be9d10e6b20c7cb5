-- serve
-- Template of how a group that shares its deliveries out among keys receives. <q>_take_turns is its receive: it sets
-- aside what has expired, what is due and what is new, up to 1,000 messages or as many as are asked for, then lets the
-- lines have their turns. <q>_serve gives each line that waits an equal share of what is asked for, in the order in
-- which they wait, one message at least; a line that still has messages goes to the end, unless its key has as many
-- claimed as it may. All that is delivered goes into the lane after the last, as one record that one claim refers to.
--
-- The caller has the group's turn.
--
-- Parameters:
--   g         the group
--   t         take_turns: its turn, see <q>_turn: how many messages, and the claims that are unfinished
--   p_max     serve: messages
--   p_flight  serve: how many messages of each line are claimed, see <q>_flight
--   p_lease   how long the messages are the caller's
-- Returns: take_turns: records, t.n messages at most; serve: one record, null when no line can be served.
-- Raises: WR016
-- Locks: the advisory locks of the group's lanes, tried, until the transaction ends; ROW EXCLUSIVE on `lines`, `turns`,
-- the open segment and the claim log.
insert into weir_internal.templates (name, body) values ('serve', $template$
--{ {keyed}
create or replace function weir_internal.{q}_serve(
    g weir_internal.groups, p_max int, p_flight jsonb, p_lease interval)
returns weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_no bigint;
    v_before bigint := coalesce((
        select t.pos from weir_internal.{q}_turns t
        where t.group_id = g.id and t.line = '' order by t.no desc limit 1), 0);
    v_served bigint := v_before;
    v_since timestamptz := weir_internal.ttl_start(g);
    v_part int;            -- messages taken at a time, for the memory they need
    v_last bigint;
    v_names text[];        -- the lines whose turn it is
    v_places bigint[];     -- how far each is served
    v_lines text[] := '{}'; -- of each message delivered
    r weir_internal.log_record;
    s record;
begin
    r.group_id := g.id;
    r.payloads := '{}';
    loop
        v_part := least(p_max - cardinality(r.payloads), 100, greatest(1, 268435456 / {message_bytes_max}));
        exit when v_part <= 0 or pg_column_size(r.payloads) > 33554432;
        select array_agg(t.line), array_agg(t.pos), max(t.no) into v_names, v_places, v_last
        from (select * from weir_internal.{q}_turns e
              where e.group_id = g.id and e.what = 1 and e.no > v_served order by e.no limit v_part) t;
        exit when v_names is null;
        v_no := coalesce(v_no, nextval('weir_internal.{q}_claim_ids'));
        v_served := v_last;
        with served as materialized (
            select u.i, u.line, coalesce(m.pos, u.pos) as pos, m.rows, m.n + coalesce(f.n, 0) as n
            from unnest(v_names, v_places) with ordinality u (line, pos, i)
            cross join lateral (select (p_flight ->> u.line)::int as n) f
            cross join lateral (
                select array_agg(row(w.*)::weir_internal.line_message) as rows, max(w.no) as pos,
                    count(*) filter (where w.enqueued_at >= v_since) as n
                from (select * from weir_internal.{q}_lines e
                      where e.group_id = g.id and e.line = u.line and e.no > u.pos
                      order by e.no
                      limit greatest(0, least(greatest(1, v_part / cardinality(v_names)),
                          case when u.line <> 'l' then g.key_concurrency_max - coalesce(f.n, 0) end))) w) m),
        gone_on as (
            insert into weir_internal.{q}_turns (group_id, line, no, what, pos)
            select g.id, v.line, nextval('weir_internal.{q}_claim_ids'),
                case when not exists (select from weir_internal.{q}_lines e
                                      where e.group_id = g.id and e.line = v.line and e.no > v.pos) then 3
                     when v.line <> 'l' and v.n >= g.key_concurrency_max then 2
                     else 1 end,
                v.pos
            from served v order by v.i)
        select array_agg(m.id) as ids, array_agg(m.attempts) as attempts, array_agg(m.key) as keys,
            array_agg(m.payload) as payloads, array_agg(m.headers) as headers, array_agg(m.enqueued_at) as times,
            array_agg(m.line) as lines, (select jsonb_object_agg(v.line, v.n) from served v) as flight
        into s
        from served v cross join lateral unnest(v.rows) m
        where m.enqueued_at >= v_since;
        p_flight := p_flight || s.flight;
        continue when s.ids is null;
        r.ids := r.ids || s.ids;
        r.attempts := r.attempts || s.attempts;
        r.keys := r.keys || s.keys;
        r.payloads := r.payloads || s.payloads;
        r.headers := r.headers || s.headers;
        r.enqueued_times := r.enqueued_times || s.times;
        v_lines := v_lines || s.lines;
    end loop;
    if v_served > v_before then
        insert into weir_internal.{q}_turns (group_id, line, no, what, pos, ids, lines)
        select g.id, '', v_no, 0, v_served, k.ids, k.lines
        from (values (true)) one
        left join (select r.ids as ids, v_lines as lines) k on g.key_concurrency_max is not null;
    end if;
    if cardinality(r.payloads) = 0 then
        return null;
    end if;
    return weir_internal.{q}_claim_record(
        weir_internal.{q}_fresh((g.no * ({lanes} + 1) + {lanes})::smallint, weir_internal.clock()), r, p_lease);
end
$body$;
create or replace function weir_internal.{q}_take_turns(
    g weir_internal.groups, t weir_internal.claim, p_lease interval)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_now timestamptz := weir_internal.clock();
    v_lanes int[];
    v_slot smallint := g.no * ({lanes} + 1) + {lanes};
    v_flight jsonb := '{}';
    o weir.message_record;
    v_out weir.message_record[];
begin
    if not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot) then
        return '{}';
    end if;
    if pg_sequence_last_value('weir_internal.{q}_later_clock') > 0 then
        perform weir_internal.{q}_claim_due(g, 1000, p_lease);
    end if;
    v_lanes := weir_internal.{q}_probe(g, floor(random() * {lanes})::int, v_now);
    for l in 1 .. cardinality(v_lanes) loop
        v_slot := g.no * ({lanes} + 1) + case when v_lanes[l] < 0 then -1 - v_lanes[l] else v_lanes[l] end;
        continue when not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot);
        if v_lanes[l] < 0 then
            perform weir_internal.redeliver({no}, g, weir_internal.{q}_cursor(v_slot), 1000, p_lease, v_now);
        else
            perform weir_internal.{q}_claim(weir_internal.{q}_fresh(v_slot, v_now), g, v_lanes[l],
                greatest(t.n, 1000) / cardinality(v_lanes) + 1, p_lease);
        end if;
    end loop;
    loop
        if g.key_concurrency_max is not null then
            v_flight := weir_internal.{q}_flight(g, t.ids);
            insert into weir_internal.{q}_turns (group_id, line, no, what, pos)
            select g.id, f.line, nextval('weir_internal.{q}_claim_ids'), 1, f.pos
            from weir_internal.{q}_stopped(g, v_flight) f where f.freed;
        end if;
        o := weir_internal.{q}_serve(g, t.n, v_flight, p_lease);
        exit when o.n is null;
        v_out := array[o];
        perform weir_internal.{q}_count(g, t, v_out);
        if pg_sequence_last_value('weir_internal.{q}_cancels') = 0 then
            return v_out;
        end if;
        v_out := weir_internal.drop_cancelled({no}, v_out);
        if cardinality(v_out) > 0 then
            return v_out;
        end if;
        t.ids := t.ids + int8multirange(int8range(o.claim_id, o.claim_id + 1)); -- all were cancelled: others may wait
    end loop;
    perform weir_internal.{q}_asks_turn(g);
    return '{}';
end
$body$
--}
$template$) on conflict (name) do update set body = excluded.body;
