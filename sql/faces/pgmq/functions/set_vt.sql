-- pgmq.set_vt(queue_name, msg_id, vt), pgmq.set_vt(queue_name, msg_ids, vt), pgmq._set_vt(q, g, p_id, p_vt),
-- pgmq._is_alone(c, p_id)
-- Says when messages may be read again, read or not. A message that a reader has alone is left where it is when he
-- shall have it longer; any other is kept among the delayed from then on.
--
-- Parameters:
--   queue_name  the queue
--   msg_id      a message
--   msg_ids     messages
--   vt          seconds from now, or a time
--   q, g        queue and group
--   p_id, p_vt  the message and the time
--   c           the claim that holds it
-- Returns: the messages, by id; none for an id that is not there. _is_alone: whether nothing else is left of the claim.
-- Raises: 42P01, 23502 for a vt that is null, WR012, WR019
-- Locks: the claim of the message; of one that was not read yet, or set before, the cursors of its lane: it waits for
-- readers whose transaction is open, and they for it.
create or replace function pgmq._set_vt(
    q weir_internal.queues, g weir_internal.groups, p_id bigint, p_vt timestamptz)
returns pgmq.message_record
language plpgsql
as $$
declare
    l record;
    c weir_internal.claim;
    m pgmq.message_record;
begin
    l := pgmq._look(q, g, p_id);
    if l.place = 'c' and (l.claim).deadline < p_vt and pgmq._is_alone(l.claim, p_id) then
        perform weir_log_pgmq.lock_claim((l.claim).claim, null);
        l := pgmq._look(q, g, p_id);
        if l.place = 'c' and (l.claim).deadline < p_vt and pgmq._is_alone(l.claim, p_id)
            and not exists (select from weir_internal.cancellations n
                            where n.queue_no = q.no and n.id = p_id and not n.moved) then
            c.kind := 'e';
            c.claim := (l.claim).claim;
            c.deadline := p_vt;
            perform weir_log_pgmq.append_claim(c);
            return pgmq._message((weir_log_pgmq.messages_of(q, array[l.claim],
                int8multirange(int8range(p_id, p_id, '[]')), 0, null))[1], (l.claim).claimed_at, p_vt);
        end if;
    end if;
    m := pgmq._take_out(q, g, p_id, 'move');
    if m.msg_id is not null then
        m.vt := p_vt;
        perform pgmq._delay(q, g.no, array[m], p_vt);
    end if;
    return m;
end
$$;
create or replace function pgmq._is_alone(c weir_internal.claim, p_id bigint)
returns boolean
language plpgsql
as $$
declare
    s record := weir_log_pgmq.claim_state(c.claim);
begin
    return s.ids - s.done - s.taken = int8multirange(int8range(p_id, p_id, '[]'));
end
$$;
create or replace function pgmq.set_vt(queue_name text, msg_id bigint, vt timestamptz)
returns setof pgmq.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    q weir_internal.queues := pgmq._find(queue_name);
    m pgmq.message_record;
begin
    perform weir_internal.check_isolation('set_vt');
    perform pgmq._check_vt(q, vt);
    m := pgmq._set_vt(q, pgmq._group(q), msg_id, vt);
    if m.msg_id is not null then
        return next m;
    end if;
end
$$;
create or replace function pgmq.set_vt(queue_name text, msg_id bigint, vt integer)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query
    select * from pgmq.set_vt(queue_name, msg_id, weir_internal.clock() + make_interval(secs => vt));
end
$$;
create or replace function pgmq.set_vt(queue_name text, msg_ids bigint[], vt timestamptz)
returns setof pgmq.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    q weir_internal.queues := pgmq._find(queue_name);
    g weir_internal.groups := pgmq._group(q);
    v_messages pgmq.message_record[];
begin
    perform weir_internal.check_isolation('set_vt');
    perform pgmq._check_vt(q, vt);
    v_messages := pgmq._take_out_many(q, g, msg_ids, 'move');
    perform pgmq._delay(q, g.no, v_messages, vt) where cardinality(v_messages) > 0;
    return query
    select m.msg_id, m.read_ct, m.enqueued_at, m.last_read_at, set_vt.vt, m.message, m.headers
    from unnest(v_messages) m;
end
$$;
create or replace function pgmq.set_vt(queue_name text, msg_ids bigint[], vt integer)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query
    select * from pgmq.set_vt(queue_name, msg_ids, weir_internal.clock() + make_interval(secs => vt));
end
$$;
