-- weir_log.claim_messages(c, p_queue, p_ids), weir_log.read_source(s, p_queue, p_group, p_ids)
-- claim_messages: reads messages of a claim from the log again. read_source: what the log has of them.
--
-- Parameters:
--   c        a row of the claim
--   s        where they lie
--   p_queue  queue number
--   p_group  group number
--   p_ids    which of the messages there
-- Returns: one row a message, in the order of delivery; attempts counts the deliveries before this claim's first. Of an
-- unlogged log it may be fewer than asked for: a crash emptied it.
-- Raises: claim_messages: WR016
-- Locks: ACCESS SHARE on one segment.
create or replace function weir_log.claim_messages(c weir_internal.claim, p_queue int, p_ids int8multirange)
returns table (id bigint, key text, headers jsonb, payload text, body bytea, enqueued_at timestamptz, attempts int)
language plpgsql
as $$
#variable_conflict use_column
declare
    v_count int;
begin
    return query
    select * from weir_log.read_source(
        coalesce(c.src, row(c.seg, c.lane, c.from_txid, c.from_pos, c.txid, c.pos)::weir_internal.source),
        p_queue, c.group_no, p_ids);
    get diagnostics v_count = row_count;
    if v_count <> weir_internal.count_ids(p_ids)
        and not (select l.unlogged from weir_internal.logs l where l.schema_name = 'weir_log') then
        raise exception 'the log holds % of the % messages % of claim %',
            v_count, weir_internal.count_ids(p_ids), p_ids, c.claim
            using errcode = 'WR016', hint = 'The log was emptied from outside, or lost in a crash. Release the claim.';
    end if;
end
$$;
create or replace function weir_log.read_source(
    s weir_internal.source, p_queue int, p_group int, p_ids int8multirange)
returns table (id bigint, key text, headers jsonb, payload text, body bytea, enqueued_at timestamptz, attempts int)
language plpgsql
as $$
#variable_conflict use_column
declare
    v_records weir_internal.log_record[];
    v_table int;
begin
    loop
        v_table := weir_log.segment_table(s.seg);
        case v_table
            when 0 then v_records := weir_log.records_0(s, p_queue, p_group, p_ids);
            when 1 then v_records := weir_log.records_1(s, p_queue, p_group, p_ids);
            when 2 then v_records := weir_log.records_2(s, p_queue, p_group, p_ids);
            else v_records := weir_log.records_3(s, p_queue, p_group, p_ids);
        end case;
        exit when weir_log.segment_table(s.seg) = v_table;
    end loop;
    return query
    select coalesce(u.id, r.id - r.n + u.i), u.key, u.headers, u.payload, u.body,
        coalesce(u.enqueued_at, r.enqueued_at), coalesce(u.attempts, 0)::int
    from unnest(v_records) with ordinality r
        (txid, id, n, queue_no, lane, group_no, enqueued_at, ids, attempts, enqueued_times, keys, headers, payloads,
         bodies, i)
    cross join lateral unnest(r.ids, r.keys, r.headers, r.payloads, r.bodies, r.enqueued_times, r.attempts)
        with ordinality as u (id, key, headers, payload, body, enqueued_at, attempts, i)
    where coalesce(u.id, r.id - r.n + u.i) <@ p_ids
    order by r.i, u.i;
end
$$;
