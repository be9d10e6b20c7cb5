-- weir_log.find_messages_0 .. 3, attempts_before_0 .. 3
-- The statements that must name one table of the log's ring, for those who look at messages: the same text for each.
-- Table 3 of the log is `rest`.
--
-- Parameters:
--   p_queue          queue number
--   p_lanes          lanes
--   p_ids            messages
--   p_first, p_last  only records whose last message lies between them
--   s                where the messages of a claim lie
--   p_group          the claim's group
--   p_id             a message of it
-- Returns: find_messages: where each of the messages stands that this table has; all of the index that is the lanes' is
--   read. attempts_before: how often the message was delivered before it came to where it lies; null: never.
-- Raises: none
-- Locks: ACCESS SHARE on that table, until the transaction ends.
do $do$
declare
    v_table text;
begin
    for k in 0 .. 3 loop
        v_table := case when k < 3 then 'log_' || k else 'rest' end;
        execute format($text$
create or replace function weir_log.find_messages_%1$s(
    p_queue int, p_lanes int[], p_ids bigint[], p_first bigint, p_last bigint)
returns weir_internal.found_record[]
language plpgsql stable
as $body$
declare
    v_asked int8multirange := (
        select range_agg(int8range(i, i + 1)) from unnest(p_ids) i where i < 9223372036854775807);
begin
    return array(
        select row(a.id, s.txid, %3$s, s.lane, s.id, coalesce(s.enqueued_times[m.i], s.enqueued_at), s.group_no,
                   coalesce(s.attempts[m.i], 0), s.keys[m.i], s.headers[m.i], s.payloads[m.i],
                   s.bodies[m.i])::weir_internal.found_record
        from weir_log.%2$s s
        cross join unnest(p_ids) a (id)
        cross join lateral (
            select case when s.ids is not null then array_position(s.ids, a.id)
                        when a.id between s.id - s.n + 1 and s.id then (a.id - s.id + s.n)::int end as i) m
        where s.queue_no = p_queue and s.lane = any(p_lanes) and s.id between p_first and p_last
            and (s.ids && p_ids or s.ids is null and v_asked && int8range(s.id - s.n, s.id, '(]'))
            and m.i is not null %4$s);
end
$body$$text$, k, v_table, case when k < 3 then format('pg_sequence_last_value(''weir_log.log_%s_segment'')', k)
                                 else 's.seg' end,
            case when k < 3 then format('and (select (weir_log.ring_segments())[%s] > 0)', k + 1) end);
        execute format($text$
create or replace function weir_log.attempts_before_%1$s(
    s weir_internal.source, p_queue int, p_group int, p_id bigint)
returns int
language plpgsql stable
as $body$
begin
    return (
        select t.attempts[array_position(t.ids, p_id)]
        from weir_log.%2$s t
        where t.queue_no = p_queue and t.lane = s.lane %3$s
            and (t.txid, t.id) > (s.from_txid, s.from_pos) and t.txid <= s.to_txid
            and t.attempts is not null and p_id = any(t.ids) and (t.group_no is null or t.group_no = p_group)
        limit 1);
end
$body$$text$, k, v_table, case when k = 3 then 'and t.seg = s.seg' end);
    end loop;
end
$do$;
