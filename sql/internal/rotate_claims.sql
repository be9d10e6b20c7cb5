-- weir_internal.rotate_claims(q)
-- One step of the ring of a queue's claim log. Its state is the sequence q<no>_claims_ring: 2k = table k % 2 alone is
-- in use; 2k + 1 = table (k + 1) % 2 is written and both are read. Turning takes four transactions, each of which finds
-- the one before it committed: open the other table; carry over what is still needed (each slot's newest claim, and
-- unfinished claims) once nobody writes to the old one; stop reading the old one; truncate it.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: SHARE, and later ACCESS EXCLUSIVE, on the table being left, tried for 20 ms.
create or replace function weir_internal.rotate_claims(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ring_name text := format('weir_internal.q%s_claims_ring', q.no);
    v_ring bigint := pg_sequence_last_value(v_ring_name);
    v_open text := format('weir_internal.q%s_claims_%s', q.no, (v_ring + 1) / 2 % 2);
    v_other text := format('weir_internal.q%s_claims_%s', q.no, ((v_ring + 1) / 2 + 1) % 2);
    v_carried bigint; -- octets
    v_step_by xid8; -- the transaction that did the step that this state waits for
begin
    if v_ring % 2 = 0 and pg_relation_size(v_other) = 0 and pg_table_size(v_open) < q.claims_bytes then
        return 0;
    end if;
    execute format('select txid from %s where slot = -1 and what = 9 and id = $1 order by txid desc limit 1', v_open)
    into v_step_by using v_ring;
    if v_step_by is not null and not pg_visible_in_snapshot(v_step_by, weir_internal.snapshot()) then
        return 0; -- done by this very transaction, which may still roll back
    end if;
    if v_ring % 2 = 0 then
        if pg_relation_size(v_other) > 0 then
            if not weir_internal.lock_or_skip(v_other, 'access exclusive') then
                return 0;
            end if;
            execute format('truncate table %s', v_other);
            perform weir_internal.mark_claims(q, v_ring, 0);
            return 1;
        end if;
        -- what was carried over last time counts for nothing, or a log that is all unfinished claims would turn for
        -- ever
        execute format('select max(pos) from %s where slot = -1 and what = 9 and id = $1', v_open)
        into v_carried using v_ring - 1;
        if pg_table_size(v_open) < greatest(q.claims_bytes, 2 * v_carried) then
            return 0;
        end if;
        perform setval(v_ring_name, v_ring + 1);
        return 1;
    end if;
    if v_step_by is not null then
        perform setval(v_ring_name, v_ring + 1);
        return 1;
    end if;
    if not weir_internal.lock_or_skip(v_other, 'share') then
        return 0;
    end if;
    v_carried := pg_table_size(v_open);
    execute format(
        'with slots as materialized (
             select k.slot, k.id, k.low from weir_internal.groups g cross join generate_series(0, $2) l
             cross join lateral weir_internal.q%1$s_cursor((g.no * ($2 + 1) + l)::smallint) k
             where g.queue_no = $1
             union all
             select k.slot, k.id, k.id from weir_internal.groups g
             cross join lateral ( -- the newest tally of its claims, which who has read a limit since lifted looks for
                 select c.slot, c.id from weir_internal.q%1$s_claims_2 c
                 where c.slot = (-2 - g.no)::smallint and c.what = 0 order by c.id desc limit 1) k
             where g.queue_no = $1),
         needed as materialized (
             select slot, id from slots
             union
             select u.slot, u.id from slots s
             cross join lateral weir_internal.q%1$s_unfinished(s.slot, s.low, ''infinity'', null) u),
         rows as materialized (
             select o.* from needed d join %3$s o on o.slot = d.slot and o.id = d.id and o.what in (0, 1, 2, 3))
         insert into %2$s select * from rows',
        q.no, v_open, v_other)
    using q.no, q.lanes;
    perform weir_internal.mark_claims(q, v_ring, pg_table_size(v_open) - v_carried);
    return 1;
end
$$;
