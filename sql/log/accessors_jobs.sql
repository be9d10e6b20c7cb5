-- weir_log.append_events_0 .. 1, events_0 .. 1, job_ids_0 .. 1, find_records_0 .. 3
-- The statements that must name one table of the ring of job events, or of the log's, in which jobs are looked for: the
-- same text for each. Table 3 of the log is `rest`.
--
-- Parameters:
--   p_ring    the ring's state: nothing is appended when it has turned meanwhile
--   p_events  what happened
--   p_queue   queue number
--   p_lanes   lanes
--   p_ids     jobs, which are messages
--   p_txids   of each, the transaction that sent it
--   p_kind    only jobs of this kind; null = all
--   p_after   only jobs above this
--   p_max     how many at most
-- Returns: append_events: whether they were appended. events: what happened to the jobs. job_ids: the jobs that
--   this table has, by id, perhaps twice. find_records: where each of
--   the messages stands that this table has, sent or adopted.
-- Raises: none
-- Locks: ACCESS SHARE or ROW EXCLUSIVE on that table, until the transaction ends.
do $do$
begin
    for k in 0 .. 1 loop
        execute format($text$
create or replace function weir_log.append_events_%1$s(p_ring bigint, p_events weir_internal.job_event[])
returns boolean
language plpgsql
as $body$
begin
    insert into weir_log.jobs_%1$s
    select e.* from unnest(p_events) e where (select pg_sequence_last_value('weir_log.jobs_ring')) = p_ring;
    return found;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.events_%1$s(p_queue int, p_ids bigint[])
returns weir_internal.job_event[]
language plpgsql
as $body$
begin
    return array(
        select row(e.*)::weir_internal.job_event from weir_log.jobs_%1$s e
        where e.queue_no = p_queue and e.id = any(p_ids));
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.job_ids_%1$s(p_queue int, p_kind text, p_after bigint, p_max int)
returns bigint[]
language plpgsql
as $body$
begin
    return array(
        select e.id from weir_log.jobs_%1$s e
        where e.queue_no = p_queue and e.id > p_after and e.what = 0 and (p_kind is null or e.kind = p_kind)
        order by e.queue_no, e.id limit p_max);
end
$body$$text$, k);
    end loop;
    for k in 0 .. 2 loop
        execute format($text$
create or replace function weir_log.find_records_%1$s(p_queue int, p_lanes int[], p_ids bigint[], p_txids xid8[])
returns weir_internal.found_record[]
language plpgsql stable
as $body$
begin
    return array(
        select row(a.id, t.txid, pg_sequence_last_value('weir_log.log_%1$s_segment'), l.lane, r.id, r.enqueued_at,
                   r.group_no, null, null, null, null, null)::weir_internal.found_record
        from unnest(p_ids, p_txids) a (id, txid)
        cross join lateral (values (a.txid), ('1'::xid8)) t (txid) -- 1: it was adopted since
        cross join unnest(p_lanes) l (lane)
        cross join lateral (
            select s.id, s.n, s.ids, s.enqueued_at, s.group_no from weir_log.log_%1$s s
            where s.queue_no = p_queue and s.lane = l.lane and s.txid = t.txid and s.id >= a.id
            order by s.id limit 1) r
        where (select (weir_log.ring_segments())[%2$s] > 0)
            and case when r.ids is null then a.id > r.id - r.n else a.id = any(r.ids) end);
end
$body$$text$, k, k + 1);
    end loop;
end
$do$;
create or replace function weir_log.find_records_3(p_queue int, p_lanes int[], p_ids bigint[], p_txids xid8[])
returns weir_internal.found_record[]
language plpgsql stable
as $$
declare
    v_lane int;
    v_seg bigint;
    v_out weir_internal.found_record[] := '{}';
begin
    foreach v_lane in array p_lanes loop
        v_seg := 0;
        loop
            select s.seg into v_seg from weir_log.rest s
            where s.queue_no = p_queue and s.lane = v_lane and s.seg > v_seg order by s.seg limit 1;
            exit when not found;
            v_out := v_out || array(
                select row(a.id, t.txid, v_seg, v_lane, r.id, r.enqueued_at, r.group_no, null, null, null, null, null)
                    ::weir_internal.found_record
                from unnest(p_ids, p_txids) a (id, txid)
                cross join lateral (values (a.txid), ('1'::xid8)) t (txid)
                cross join lateral (
                    select s.id, s.n, s.ids, s.enqueued_at, s.group_no from weir_log.rest s
                    where s.queue_no = p_queue and s.lane = v_lane and s.seg = v_seg and s.txid = t.txid
                        and s.id >= a.id
                    order by s.id limit 1) r
                where case when r.ids is null then a.id > r.id - r.n else a.id = any(r.ids) end);
        end loop;
    end loop;
    return v_out;
end
$$;
