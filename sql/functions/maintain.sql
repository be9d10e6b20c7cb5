-- weir.maintain()
-- Gives space back: turns the rings of every queue, truncates what all groups have passed. Anyone may call it at any
-- time, any number at once; a queue that another session maintains is passed over. Delivery does not depend on it. Call
-- it about once a second, and again at once while it returns more than 0; each call is a transaction of its own,
-- because a step may only build on steps that are committed.
--
-- Returns: how many steps it took; 0 = nothing to do now.
-- Raises: none
-- Locks: each queue's administration lock, tried; table locks as in rotate_log, rotate_claims, trim_later and
-- rotate_dedup, tried for 20 ms.
create or replace function weir.maintain()
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_steps int := 0;
    v_until timestamptz := clock_timestamp() + interval '100 milliseconds';
begin
    perform weir_internal.check_isolation('maintain');
    for q in select * from weir_internal.queues order by random() loop
        continue when not pg_try_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
        continue when not exists (select from weir_internal.queues where no = q.no)
            or q.birth <> weir_internal.birth_of(q.no); -- came in a dump: not ours to touch before adopt
        v_steps := v_steps + weir_internal.rotate_log(q) + weir_internal.rotate_claims(q)
            + weir_internal.advance_idle(q) + weir_internal.trim_later(q) + weir_internal.trim_parked(q)
            + weir_internal.rotate_dedup(q);
        perform weir_internal.take_sample(q);
        exit when clock_timestamp() > v_until;
    end loop;
    return v_steps;
end
$$;
