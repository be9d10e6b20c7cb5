-- weir_log.rotate_claims(p_bytes), weir_log.note_step(p_ring, p_bytes)
-- One step of the ring of the claim log; internal/claims_tables.sql tells what its states mean. Turning takes four
-- transactions, each of which finds the one before it committed: open the other table; carry over what is still needed
-- once nobody writes to the old one; stop reading the old one; truncate it. A row of kind 'n' (claim 0, id = the state)
-- tells by which transaction the step was done that a state waits for, and how many octets it carried over.
--
-- Parameters:
--   p_bytes  rotate_claims: a table is left beyond this size; note_step: what was carried over
--   p_ring   the state
-- Returns: rotate_claims: how much it did, 0 or 1; note_step: nothing.
-- Raises: WR016
-- Locks: SHARE, and later ACCESS EXCLUSIVE, on the table being left, tried; those of weir_log.merge_stripes.
create or replace function weir_log.rotate_claims(p_bytes bigint)
returns int
language plpgsql
as $$
declare
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
    v_open int := weir_internal.open_claims_table(v_ring);
    v_open_table text := 'weir_log.claims_' || v_open;
    v_other_table text := 'weir_log.claims_' || 1 - v_open;
    v_carried bigint; -- octets
    v_step_by xid8;
begin
    if v_ring % 2 = 0 and pg_relation_size(v_other_table) = 0 and pg_table_size(v_open_table) < p_bytes then
        return 0;
    end if;
    execute format('select max(txid::text::bigint)::text::xid8 from %s where claim = 0 and kind = ''n'' and id = $1',
        v_open_table)
    into v_step_by using v_ring;
    if v_step_by is not null and not pg_visible_in_snapshot(v_step_by, weir_internal.snapshot()) then
        return 0; -- done by this very transaction, which may still roll back
    end if;
    if v_ring % 2 = 1 then
        if v_step_by is not null then
            perform setval('weir_log.claims_ring', v_ring + 1);
            return 1;
        elsif not weir_internal.try_lock_table(v_other_table, 'share') then
            return 0;
        end if;
        v_carried := pg_table_size(v_open_table);
        perform weir_log.carry_claims(1 - v_open);
        perform weir_log.note_step(v_ring, pg_table_size(v_open_table) - v_carried);
        return 1;
    elsif pg_relation_size(v_other_table) > 0 then
        if not weir_internal.try_lock_table(v_other_table, 'access exclusive') then
            return 0;
        end if;
        execute format('truncate table %s', v_other_table);
        perform weir_log.note_step(v_ring, 0);
        return 1;
    end if;
    -- what was carried over last time counts for nothing, or a log that is all unfinished claims would turn for ever
    execute format('select max(pos) from %s where claim = 0 and kind = ''n'' and id = $1', v_open_table)
    into v_carried using v_ring - 1;
    v_carried := coalesce(v_carried, 0);
    if pg_table_size(v_open_table) - v_carried < greatest(p_bytes, v_carried) then
        return 0;
    end if;
    perform weir_log.merge_idle_stripes(v_open);
    perform setval('weir_log.claims_ring', v_ring + 1);
    return 1;
end
$$;
create or replace function weir_log.note_step(p_ring bigint, p_bytes bigint)
returns void
language plpgsql
as $$
declare
    d weir_internal.claim;
begin
    d.kind := 'n';
    d.claim := 0;
    d.id := p_ring;
    d.txid := pg_current_xact_id();
    d.pos := p_bytes;
    perform weir_log.append_claim(d);
end
$$;
-- weir_log.cursors_in(p_table), weir_log.merge_idle_stripes(p_table)
-- cursors_in: which cursors have rows in a table of the claim log, by as many descents in its index as there are
-- cursors. merge_idle_stripes: merges the stripes of lanes in which nobody has anything to do any more.
--
-- Parameters:
--   p_table  0 or 1
-- Returns: cursors_in: the cursors, in order; merge_idle_stripes: nothing.
-- Raises: none
-- Locks: ACCESS SHARE on the table; those of weir_log.merge_stripes.
create or replace function weir_log.cursors_in(p_table int)
returns table (group_no int, lane int, stripe int)
language plpgsql
as $$
begin
    return query execute format(
        'with recursive l as (
             (select t.group_no, t.lane, t.stripe from weir_log.claims_%1$s t
              where t.kind = ''c'' and t.group_no > 0 order by t.group_no, t.lane, t.stripe limit 1)
             union all
             select n.group_no, n.lane, n.stripe from l
             cross join lateral (
                 select t.group_no, t.lane, t.stripe from weir_log.claims_%1$s t
                 where t.kind = ''c'' and t.group_no >= l.group_no
                     and (t.group_no, t.lane, t.stripe) > (l.group_no, l.lane, l.stripe)
                 order by t.group_no, t.lane, t.stripe limit 1) n)
         select * from l', p_table);
end
$$;
create or replace function weir_log.merge_idle_stripes(p_table int)
returns void
language plpgsql
as $$
declare
    k record;
begin
    for k in
        select q, g, c.lane
        from (select distinct w.group_no, w.lane from weir_log.cursors_in(p_table) w where w.stripe > 1) c
        join weir_internal.groups g on g.no = c.group_no
        join weir_internal.queues q on q.no = g.queue_no
    loop
        perform weir_log.merge_stripes(k.q, k.g, k.lane, weir_internal.clock());
    end loop;
end
$$;
