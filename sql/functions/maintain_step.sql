-- weir.maintain_step(step_name, log_name), weir.maintenance(every)
-- What weir.maintain consists of. maintain_step: does one step, and only for weir.maintain, which ends the transaction
-- at once, since a step may take locks for which others wait. maintenance: what there is to do, and notes that somebody
-- does it.
--
-- Parameters:
--   step_name  which
--   log_name   of which log; null = the step belongs to none
--   every      as weir.maintain
-- Returns: maintain_step: how much it did; maintenance: the steps in their order, none when somebody began them within
--   `every`.
-- Raises: WR006, WR012; maintain_step: WR015 when anything but weir.maintain calls it, WR019
-- Locks: an advisory lock on the log's upkeep, tried; the step's.
create or replace function weir.maintain_step(step_name text, log_name text default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_calls text;
begin
    get diagnostics v_calls = pg_context;
    if v_calls !~ ' (weir\.)?maintain\(interval,integer\) ' then -- by name alone where its schema is in the search path
        raise exception 'step "%" of maintenance was called by itself', step_name
            using errcode = 'WR015',
            hint = 'Send "call weir.maintain()". It commits after each step, so that nobody waits for its locks.';
    end if;
    return weir_internal.maintain_step(step_name, log_name);
end
$$;
create or replace function weir.maintenance(every interval default '0')
returns table (step_name text, log_name text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_last bigint := pg_sequence_last_value('weir_internal.maintained_at');
begin
    perform weir_internal.check_isolation('maintain');
    if every is null or every < interval '0' or every > interval '1 hour' then
        raise exception 'every % is out of range', coalesce(every::text, 'null')
            using errcode = 'WR006', hint = 'Pass 0 to 1 hour, such as ''1 second'', or leave it out.';
    elsif v_last > weir_internal.to_micros(v_now - every) and v_last <= weir_internal.to_micros(v_now) then
        return;
    end if;
    perform setval('weir_internal.maintained_at', weir_internal.to_micros(v_now));
    return query
    select s.step_name, l.name
    from weir_internal.maintenance_steps() with ordinality s (step_name, per_log, call, i)
    left join weir_internal.logs l on s.per_log
    where not s.per_log or l.origin = weir_internal.origin_of(l.schema_name) -- else it came in a dump
    order by s.i, l.no;
end
$$;
