-- weir.maintain(every)
-- Enqueues the jobs of schedules that are due, and gives space back: turns the rings of every queue, truncates what all
-- groups have passed. Anyone may call it at any time, any number at once; a queue that another session maintains is
-- passed over. Delivery does not depend on it. Call it about once a second, and again at once while it returns more
-- than 0; each call is a transaction of its own, because a step may only build on steps that are committed.
--
-- Parameters:
--   every  0 to 1 hour: when anybody began a call less than this ago, do nothing. So a hundred workers that each call
--          it once a second cost what one does; 0, the default, is for the calls that go on while there is more to do
-- Returns: how many steps it took; 0 = nothing to do now.
-- Raises: WR006, WR012
-- Locks: each queue's administration lock, tried; table locks as in rotate_log, rotate_claims, trim_later and
-- turn_ring, tried for 20 ms.
create or replace function weir.maintain(every interval default '0')
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_steps int := 0;
    v_first int;
    v_done int;
    v_now timestamptz := clock_timestamp();
    v_last bigint := pg_sequence_last_value('weir_internal.maintained_at');
begin
    perform weir_internal.check_isolation('maintain');
    if every is null or every < interval '0' or every > interval '1 hour' then
        raise exception 'every % is out of range', coalesce(every::text, 'null')
            using errcode = 'WR006', hint = 'Pass 0 to 1 hour, such as ''1 second'', or leave it out.';
    end if;
    if v_last > weir_internal.to_micros(v_now - every) and v_last <= weir_internal.to_micros(v_now) then
        return 0;
    end if;
    perform setval('weir_internal.maintained_at', weir_internal.to_micros(v_now));
    v_steps := weir.fire_schedules();
    for q in select * from weir_internal.queues order by random() loop
        continue when not pg_try_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
        continue when not exists (select from weir_internal.queues where no = q.no)
            or q.birth <> weir_internal.birth_of(q.no); -- came in a dump: not ours to touch before adopt
        -- One step a transaction: two ACCESS EXCLUSIVE locks could make a deadlock with consumers. Looked for from a
        -- random one on, so that none waits for one that always has something to do.
        v_first := floor(random() * 8);
        for i in v_first .. v_first + 7 loop
            v_done := case i % 8
                when 0 then weir_internal.rotate_log(q)
                when 1 then weir_internal.rotate_claims(q)
                when 2 then weir_internal.advance_idle(q)
                when 3 then weir_internal.trim_later(q)
                when 4 then weir_internal.trim_parked(q)
                when 5 then weir_internal.trim_lines(q)
                when 6 then weir_internal.rotate_dedup(q)
                else weir_internal.rotate_jobs(q)
                end;
            exit when v_done > 0;
        end loop;
        v_steps := v_steps + least(v_done, 1);
        perform weir_internal.take_sample(q);
        exit when clock_timestamp() > v_now + interval '100 milliseconds';
    end loop;
    return v_steps;
end
$$;
