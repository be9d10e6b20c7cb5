-- pgmq._append_0 .. 2, _record_0 .. 3, _claim_of_0 .. 2
-- The statements that must name one table of a ring of the face's log: the same text for each. Table 3 of the log is
-- `rest`; table 2 of the claim log is both.
--
-- Parameters:
--   p_ring      _append: the ring's state; nothing is appended when it has turned meanwhile
--   p_name      _append: the engine's name of the queue
--   p_sequence  _append: gives the queue's ids
--   p_last      _append: the id of the last message; null: the next, of one message
--   p_payloads, p_headers  _append: of the messages
--   p_queue     _record, _claim_of: queue number
--   p_id        a message
-- Returns: _append: the id of the last message, null when nothing was appended. _record: the record of lane 0 that has
-- the message, and in which segment; null when there is none. _claim_of: the newest claim that holds or held it.
-- Raises: none
-- Locks: ACCESS SHARE or ROW EXCLUSIVE on that table, until the transaction ends.
do $do$
begin
    for k in 0 .. 2 loop
        execute format($text$
create or replace function pgmq._append_%1$s(
    p_ring bigint, p_name text, p_sequence text, p_last bigint, p_payloads text[], p_headers jsonb[])
returns bigint
language plpgsql
as $body$
declare
    v_id bigint;
begin
    insert into weir_log_pgmq.log_%1$s (txid, id, n, queue_no, lane, enqueued_at, payloads, headers)
    select pg_current_xact_id(), coalesce(p_last, nextval(p_sequence::regclass)), cardinality(p_payloads), q.no, 0,
        weir_internal.clock(), p_payloads, p_headers
    from weir_internal.queues q
    where q.name = p_name
        and q.origin = array['weir_log_pgmq.log_0'::regclass::oid, 'weir_log_pgmq.log_ring'::regclass::oid]
        and pg_sequence_last_value('weir_log_pgmq.log_ring') = p_ring and pg_current_xact_id() is not null
        and (coalesce(pg_sequence_last_value(q.waiting), 0) = 0 or weir_log_pgmq.wake(q) is not null)
    returning id into v_id;
    return v_id;
end
$body$$text$, k);
    end loop;
    for k in 0 .. 3 loop
        execute format($text$
create or replace function pgmq._record_%1$s(
    p_queue int, p_id bigint, out seg bigint, out r weir_internal.log_record)
language plpgsql stable
as $body$
declare
    f record;
begin
    select %3$s as seg, row(t.txid, t.id, t.n, t.queue_no, t.lane, t.group_no, t.enqueued_at, t.ids, t.attempts,
        t.enqueued_times, t.keys, t.headers, t.payloads, t.bodies)::weir_internal.log_record as r
    into f
    from weir_log_pgmq.%2$s t
    where t.queue_no = p_queue and t.lane = 0 and t.id >= p_id order by t.id limit 1;
    if (f.r).id - (f.r).n < p_id then
        seg := f.seg;
        r := f.r;
    end if;
end
$body$$text$, k, case when k < 3 then 'log_' || k else 'rest' end,
            case when k < 3 then format('(weir_log_pgmq.ring_segments())[%s]', k + 1) else 't.seg' end);
    end loop;
    for k in 0 .. 2 loop
        execute format($text$
create or replace function pgmq._claim_of_%1$s(p_queue int, p_id bigint)
returns bigint
language plpgsql
as $body$
declare
    v_group int;
    v_claim bigint;
begin
    select g.no into v_group from weir_internal.groups g where g.queue_no = p_queue and g.name = 'default';
    select max(coalesce(t.claim, 0)) into v_claim -- max(claim) alone would be looked for from the newest of all down
    from weir_log_pgmq.claims_%1$s t
    where pgmq._span_key(t.group_no, t.ids) = pgmq._alone_key(v_group, p_id)
        and t.group_no is not distinct from v_group and t.ids @> p_id and t.kind = 'c';
    if v_claim is not null then -- it was read alone, as often
        return v_claim;
    end if;
    return (
        select max(c.claim)
        from pgmq._span_keys(v_group, p_id) k
        cross join lateral (
            select t.claim from weir_log_pgmq.claims_%1$s t
            where pgmq._span_key(t.group_no, t.ids) between k.first and k.last
                and t.group_no is not distinct from v_group and t.ids @> p_id and t.kind = 'c'
            offset 0) c);
end
$body$$text$, k);
    end loop;
end
$do$;
