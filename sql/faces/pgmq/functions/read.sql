-- pgmq.read(queue_name, vt, qty, conditional)
-- Reads messages, those first that were sent first. Nobody else reads them before vt seconds have passed, or they are
-- deleted.
--
-- Parameters:
--   queue_name   the queue
--   vt           seconds; 0 or less: whoever reads next may have them
--   qty          messages at most; null = all
--   conditional  only messages that contain it
-- Returns: the messages, by id.
-- Raises: 42P01, 23502 for a vt that is null, 2201W, WR012, WR019
-- Locks: as weir.receive.
create or replace function pgmq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}')
returns setof pgmq.message_record
language plpgsql
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_lease interval := make_interval(secs => vt);
    v_records weir.message_record[];
    o weir.message_record;
begin
    if conditional <> '{}' then
        return query select * from pgmq._read_picked(queue_name, vt, 'condition', conditional, qty);
        return;
    end if;
    v_records := pgmq._fetch(queue_name, v_lease, qty);
    if cardinality(v_records) = 1 then
        o := v_records[1];
        if o.n = 1 then
            return next row(o.first_id, coalesce(o.attempts[1], 1), coalesce(o.enqueued_times[1], o.enqueued_at), v_now,
                v_now + v_lease, o.payloads[1]::jsonb, o.headers[1])::pgmq.message_record;
            return;
        elsif o.ids is null and o.attempts is null and o.enqueued_times is null then -- they stand in the log like this
            return query
            select o.first_id + u.i - 1, 1, o.enqueued_at, v_now, v_now + v_lease, u.payload::jsonb, u.headers
            from unnest(o.payloads, o.headers) with ordinality u (payload, headers, i);
            return;
        end if;
    end if;
    if cardinality(v_records) > 0 then
        return query
        select coalesce(u.id, r.first_id + u.i - 1), coalesce(u.attempt, 1), coalesce(u.enqueued_at, r.enqueued_at),
            v_now, v_now + v_lease, u.payload::jsonb, u.headers
        from unnest(v_records) r
        cross join lateral unnest(r.ids, r.attempts, r.enqueued_times, r.payloads, r.headers)
            with ordinality u (id, attempt, enqueued_at, payload, headers, i)
        order by 1;
    end if;
end
$$;
