-- weir.receive(queue_name, group_name, max, lease)
-- Claims messages for the caller, under one claim: until the lease ends nobody else of the group is delivered them. Ack
-- them before that.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
--   lease       1 millisecond to 7 days
-- Returns: the messages; none when there is nothing, and then nothing is written. Fewer than max does not mean that
-- nothing is left.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: the lanes it claims in, until the transaction ends: commit, then work. A receive that is rolled back never
-- happened, and is not counted as an attempt.
create or replace function weir.receive(
    queue_name text,
    group_name text default 'default',
    max int default 1,
    lease interval default '30 seconds')
returns setof weir.message
language plpgsql
as $$
declare
    o weir.message_record;
    v_records weir.message_record[];
    v_payloads jsonb[];
begin
    if weir_internal.direct(queue_name) then
        v_records := weir_log.receive(queue_name, group_name, max, lease);
    else
        execute 'select ' || weir_internal.call('receive', queue_name, '$1, $2, $3')
        into v_records using group_name, max, lease;
    end if;
    foreach o in array v_records loop
        v_payloads := weir_internal.jsonb_of(o.payloads);
        if o.n = 1 then
            return next row(o.first_id, o.claim_id, coalesce(o.attempts[1], o.attempt), o.keys[1], v_payloads[1],
                o.headers[1], coalesce(o.enqueued_times[1], o.enqueued_at), coalesce(o.bodies[1],
                    case when v_payloads[1] is null then pg_catalog.convert_to(o.payloads[1], 'UTF8') end)
                )::weir.message;
        else
            return query
            select coalesce(u.id, o.first_id + u.i - 1), o.claim_id, coalesce(u.attempt, o.attempt),
                u.key, u.payload, u.headers, coalesce(u.enqueued_at, o.enqueued_at), coalesce(u.body,
                    case when u.payload is null then pg_catalog.convert_to(u.text, 'UTF8') end)
            from unnest(o.ids, o.attempts, o.keys, v_payloads, o.headers, o.enqueued_times, o.bodies, o.payloads)
                with ordinality as u (id, attempt, key, payload, headers, enqueued_at, body, text, i);
        end if;
    end loop;
end
$$;
