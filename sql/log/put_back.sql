-- weir_log.put_back(q, g, e, p_rest, p_messages), weir_log.park_along(g, e, p_rest, p_key_queues)
-- Parts of weir_log.retry_ordered: put_back parks messages of a claim's row that do not stand in key queues, with what
-- else it holds of the same keys; park_along gives back what it holds of key queues in which it stands.
--
-- Parameters:
--   q, g          queue and group
--   e             a row of the claim
--   p_rest        what else of it is not done
--   p_messages    the messages, attempts and due_at as they shall be kept
--   p_key_queues  key queues
-- Returns: the messages taken along.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_log.put_back(
    q weir_internal.queues, g weir_internal.groups, e weir_internal.claim, p_rest int8multirange,
    p_messages weir_internal.delayed_row[])
returns int8multirange
language plpgsql
as $$
declare
    v_put int8multirange := (select range_agg(int8range(m.id, m.id + 1)) from unnest(p_messages) m);
    v_lane int := nullif(greatest(e.lane, -1), -1); -- what is aside and does not stand in a key queue: by its key
    v_along weir_internal.delayed_row[];
begin
    if cardinality(p_messages) = 0 then
        return '{}';
    end if;
    v_along := array(
        select m from unnest(weir_log.messages_of(q, array[e], p_rest, -1, null)) m
        where weir_internal.line_of((m).key, e.lane) in (
                select weir_internal.line_of(x.key, e.lane) from unnest(p_messages) x)
            and (select true from weir_log.parked p where p.group_no = g.no and p.id = (m).id limit 1) is null);
    if cardinality(v_along) > 0 then -- all in the order of delivery
        p_messages := array(
            select m.row
            from (select x as row, (x).id from unnest(p_messages || v_along) x) m
            join (select t.id, row_number() over () as i
                  from weir_log.claim_messages(e, q.no, v_put + (
                      select range_agg(int8range(a.id, a.id + 1)) from unnest(v_along) a)) t) o on o.id = m.id
            order by o.i);
    end if;
    perform weir_log.park(q, g, v_lane, p_messages, e.id, null, false);
    return coalesce((select range_agg(int8range(a.id, a.id + 1)) from unnest(v_along) a), '{}');
end
$$;
create or replace function weir_log.park_along(
    g weir_internal.groups, e weir_internal.claim, p_rest int8multirange, p_key_queues text[])
returns int8multirange
language plpgsql
as $$
declare
    v_along int8multirange;
    r int8range;
begin
    if p_key_queues = '{}' then
        return '{}';
    end if;
    select coalesce(range_agg(int8range(w.id, w.id + 1)), '{}') into v_along
    from unnest(p_rest) u
    cross join lateral ( -- by the id: by the key queues it may be planned as a walk over all of them for each range
        select p.id, p.key_queue from weir_log.parked p
        where p.group_no = g.no and p.id >= lower(u) and p.id < upper(u) and p.holder = e.claim offset 0) w
    where (w.key_queue in (select k from unnest(p_key_queues) k)) is true; -- so looked up by hash, whatever the plan
    for r in select unnest(v_along) loop -- of what lies in a lane this delivery was counted when it was put there
        update weir_log.parked p
        set attempts = p.attempts - (e.lane >= 0)::int, holder = null, due_at = null
        where p.group_no = g.no and p.id >= lower(r) and p.id < upper(r) and p.holder = e.claim;
    end loop;
    return v_along;
end
$$;
