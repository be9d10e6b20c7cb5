-- weir_log.start_key_queues(q, o, g), weir_log.open_claims(g)
-- Makes a change of what a group does with the keys of its messages take effect; see log/set_aside.sql. Without key
-- queues, what waited in them is due at once among the delayed. A limit per key counts what is claimed already; without
-- one nothing waits for it. The caller holds the group's lock.
--
-- Parameters:
--   q  the queue
--   o  the group as it was
--   g  the group as it is stored now
-- Returns: start_key_queues: nothing; open_claims: the group's unfinished claims, from the claim log.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on `delayed`, `key_queues` and `key_turns`.
create or replace function weir_log.start_key_queues(
    q weir_internal.queues, o weir_internal.groups, g weir_internal.groups)
returns void
language plpgsql
as $$
declare
    v_pos bigint;
    v_claim bigint;
    s record;
    v_claimed weir_internal.delayed_row[] := '{}';
begin
    if o.keyed and not g.keyed then
        perform weir_log.retry(q, g, array(
            select row(null, q.no, g.no, null, m.id, m.attempts, m.key, m.headers, m.payload, m.body,
                       m.enqueued_at, null)
                ::weir_internal.delayed_row
            from weir_log.in_key_queues m where m.group_no = g.no order by m.no), interval '0');
        perform weir_log.clear_key_queues(g);
    elsif o.key_concurrency_max is not null and g.key_concurrency_max is null then
        insert into weir_log.key_turns (group_no, key_queue, no, state, pos)
        select t.group_no, t.key_queue, nextval('weir_internal.claim_numbers'), 'w', t.pos
        from weir_log.key_turns t
        where t.group_no = g.no and t.state = 's'
            and not exists (select from weir_log.key_turns n
                            where n.group_no = t.group_no and n.key_queue = t.key_queue and n.no > t.no);
    elsif o.key_concurrency_max is null and g.key_concurrency_max is not null then
        foreach v_claim in array weir_log.open_claims(g) loop
            s := weir_log.claim_state(v_claim);
            v_claimed := v_claimed || weir_log.messages_of(q, s.parts, s.ids - s.done - s.taken, 0, null);
        end loop;
        select max(t.pos) into v_pos from weir_log.key_turns t where t.group_no = g.no and t.key_queue = '';
        delete from weir_log.key_turns t where t.group_no = g.no and t.key_queue = '';
        -- one row for all deliveries so far, which is found from each claim's number
        insert into weir_log.key_turns (group_no, key_queue, no, state, pos, ids, key_queues)
        select g.no, '', 0, 'd', coalesce(v_pos, 0), array_agg(m.id), array_agg(coalesce('k' || m.key, 'l'))
        from unnest(v_claimed) m;
    end if;
end
$$;
create or replace function weir_log.open_claims(g weir_internal.groups)
returns bigint[]
language plpgsql
as $$
begin
    return coalesce((weir_log.inflight_claims(
        array(select distinct k.claim from weir_log.claims_2 k
              where k.kind = 'c' and k.group_no = g.no and k.claim is not null), weir_internal.clock())).claims, '{}');
end
$$;
