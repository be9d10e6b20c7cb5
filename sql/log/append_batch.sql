-- weir_log.append_batch(q, p_ids, p_payloads, p_bodies, p_keys, p_headers, p_priority)
-- Appends messages as few records: one a lane, each under about 128 KiB and 1,000 messages, so that a claim of a few of
-- them stays cheap.
--
-- Parameters:
--   q           the queue
--   p_ids       rising, one a message, from weir_internal.next_ids
--   p_payloads  one a message, null where it has a body
--   p_bodies    null, or one a message
--   p_keys      null, or one a message
--   p_headers   null, or one a message
--   p_priority  of all of them
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open segment, until the transaction ends.
create or replace function weir_log.append_batch(
    q weir_internal.queues, p_ids bigint[], p_payloads text[], p_bodies bytea[], p_keys text[], p_headers jsonb[],
    p_priority int)
returns void
language plpgsql
as $$
declare
    r weir_internal.log_record;
    m record;
    v_count int := coalesce(cardinality(p_ids), 0);
    v_bytes bigint := pg_column_size(p_payloads) + coalesce(pg_column_size(p_bodies), 0);
    v_chunk int := 1000;
    v_from int := 1;
    v_to int;
begin
    r.queue_no := q.no;
    r.enqueued_at := weir_internal.clock();
    if v_count > 1 and v_bytes > 131072 then
        v_chunk := greatest(1, least(1000, 131072::bigint * v_count / v_bytes));
    end if;
    if p_keys is null or array_remove(p_keys, null) = '{}' then
        r.lane := p_priority;
        while v_from <= v_count loop
            v_to := least(v_from + v_chunk - 1, v_count);
            if v_to - v_from + 1 < v_count then
                r.payloads := array(select p_payloads[i] from generate_series(v_from, v_to) i); -- [a:b] would copy all
                r.bodies := case when p_bodies is not null
                    then array(select p_bodies[i] from generate_series(v_from, v_to) i) end;
                r.headers := case when p_headers is not null then p_headers[v_from:v_to] end;
            else
                r.payloads := p_payloads;
                r.bodies := p_bodies;
                r.headers := p_headers;
            end if;
            r.id := p_ids[v_to];
            r.n := v_to - v_from + 1;
            r.ids := case when p_ids[v_to] - p_ids[v_from] >= r.n then p_ids[v_from:v_to] end; -- two numbers met
            perform weir_log.append_record(r);
            v_from := v_to + 1;
        end loop;
    else
        perform weir_log.lane_of(q, ''); -- notes that there are keys
        for m in
            select p.lane, array_agg(p.i order by p.i) as places
            from (select l.lane, u.i, (row_number() over (partition by l.lane order by u.i) - 1) / v_chunk as chunk
                  from unnest(p_keys) with ordinality u (key, i)
                  cross join lateral (
                      select coalesce(q.key_epochs[cardinality(q.key_epochs)]
                          + weir_internal.lane_of(u.key, q.key_lanes), p_priority) as lane) l) p
            group by p.lane, p.chunk order by p.lane, p.chunk
        loop
            r.lane := m.lane;
            r.n := cardinality(m.places);
            r.id := p_ids[m.places[r.n]];
            r.ids := case when r.id - p_ids[m.places[1]] >= r.n
                then array(select p_ids[i] from unnest(m.places) i) end;
            r.keys := case when m.lane >= 16 then array(select p_keys[i] from unnest(m.places) i) end;
            r.payloads := array(select p_payloads[i] from unnest(m.places) i);
            r.bodies := case when p_bodies is not null then array(select p_bodies[i] from unnest(m.places) i) end;
            r.headers := case when p_headers is not null
                then array(select p_headers[i] from unnest(m.places) i) end;
            perform weir_log.append_record(r);
        end loop;
    end if;
    if v_count > 0 and pg_sequence_last_value(q.waiting) > 0 then
        perform weir_log.wake(q);
    end if;
end
$$;
