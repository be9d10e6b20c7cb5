-- weir_internal.drop_cancelled(p_queue, p_records)
-- Takes the jobs that were cancelled out of what a receive is about to return, and finishes them.
--
-- Parameters:
--   p_queue    queue number
--   p_records  what was claimed in this transaction
-- Returns: the records without those jobs.
-- Raises: WR016
-- Locks: the advisory locks of their claims, until the transaction ends.
create or replace function weir_internal.drop_cancelled(p_queue int, p_records weir.message_record[])
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    o weir.message_record;
    v_out weir.message_record[] := '{}';
    v_ids bigint[];
    v_gone bigint[];
begin
    foreach o in array p_records loop
        v_ids := coalesce(o.ids, array(select o.first_id + i from generate_series(0, o.n - 1) i));
        v_gone := array(
            select c.id from weir_internal.cancellations c where c.queue_no = p_queue and c.id = any(v_ids));
        if cardinality(v_gone) > 0 then
            perform weir_internal.settle(p_queue, o.claim_id, v_gone, 'ack', null, null);
            select count(*), (array_agg(u.id order by u.i))[1], array_agg(u.id order by u.i),
                case when o.attempts is not null then array_agg(u.attempt order by u.i) end,
                case when o.keys is not null then array_agg(u.key order by u.i) end,
                array_agg(u.payload order by u.i),
                case when o.headers is not null then array_agg(u.headers order by u.i) end,
                case when o.enqueued_times is not null then array_agg(u.enqueued_at order by u.i) end
            into o.n, o.first_id, o.ids, o.attempts, o.keys, o.payloads, o.headers, o.enqueued_times
            from unnest(v_ids, o.attempts, o.keys, o.payloads, o.headers, o.enqueued_times)
                with ordinality u (id, attempt, key, payload, headers, enqueued_at, i)
            where u.id <> all(v_gone);
        end if;
        if o.n > 0 then
            v_out := v_out || o;
        end if;
    end loop;
    return v_out;
end
$$;
