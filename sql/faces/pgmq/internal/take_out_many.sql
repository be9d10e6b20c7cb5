-- pgmq._take_out_many(q, g, p_ids, p_how)
-- Takes messages out of where they stand: see pgmq._take_out. Those that a claim holds are finished by one row.
--
-- Parameters:
--   q, g   queue and group
--   p_ids  the messages
--   p_how  as pgmq._take_out
-- Returns: those that were there, by id.
-- Raises: WR016
-- Locks: as pgmq._take_out; the whole of a claim of which it takes more than 32.
create or replace function pgmq._take_out_many(
    q weir_internal.queues, g weir_internal.groups, p_ids bigint[], p_how text)
returns pgmq.message_record[]
language plpgsql
as $$
declare
    v_ids bigint[] := array(select distinct i from unnest(p_ids) i where i is not null order by i);
    v_out pgmq.message_record[] := '{}';
    v_asked int8multirange;
    v_left int8multirange;
    v_gone int8multirange;
    l record;
    s record;
    c weir_internal.claim;
    d weir_internal.claim;
    m pgmq.message_record;
begin
    while cardinality(v_ids) > 0 loop
        l := pgmq._look(q, g, v_ids[1]);
        if l.place is distinct from 'c' or cardinality(v_ids) = 1 then
            m := pgmq._take_out(q, g, v_ids[1], p_how);
            if m.msg_id is not null then
                v_out := array_append(v_out, m);
            end if;
            v_ids := v_ids[2:];
            continue;
        end if;
        s := weir_log_pgmq.claim_state((l.claim).claim); -- it may have several rows
        perform weir_log_pgmq.lock_claim((l.claim).claim, array(select i from unnest(v_ids) i where s.ids @> i));
        s := weir_log_pgmq.claim_state((l.claim).claim);
        v_left := s.ids - s.done - s.taken;
        v_asked := v_left * (select range_agg(int8range(i, i, '[]')) from unnest(v_ids) i);
        continue when not v_asked @> v_ids[1];
        v_gone := '{}';
        if pg_sequence_last_value(q.special) > 0 then
            perform pg_advisory_xact_lock(weir_internal.message_lock(q.no, i)) from unnest(v_ids) i where v_asked @> i;
            v_gone := coalesce((
                select range_agg(int8range(n.id, n.id, '[]')) from weir_internal.cancellations n
                where n.queue_no = q.no and n.id = any(v_ids) and v_asked @> n.id and not n.moved), '{}');
        end if;
        if p_how = 'delete' then
            v_out := v_out || array(
                select row(i, null, null, null, null, null, null)::pgmq.message_record
                from unnest(v_ids) i where (v_asked - v_gone) @> i);
        else
            foreach c in array s.parts loop
                v_out := v_out || array(
                    select pgmq._message(u, c.claimed_at, s.deadline)
                    from unnest(weir_log_pgmq.messages_of(q, array[c], v_asked - v_gone, 0, null)) u);
            end loop;
        end if;
        d.kind := 'D';
        d.claim := (l.claim).claim;
        d.n := weir_internal.count_ids(v_asked);
        d.ids := nullif(v_asked, v_left);
        perform weir_log_pgmq.append_claim(d);
        v_ids := array(select i from unnest(v_ids) i where not v_asked @> i order by i);
    end loop;
    return array(select o from unnest(v_out) o order by o.msg_id);
end
$$;
