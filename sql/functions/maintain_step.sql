-- weir.maintain_step(step_name, log_name), weir.maintenance(every)
-- maintain_step: one step of weir.maintain, for who cannot call a procedure that commits. End the transaction at once:
-- a step may take locks for which others wait. maintenance: what there is to do, and notes that somebody does it.
--
-- Parameters:
--   step_name  which
--   log_name   of which log; null = the step belongs to none
--   every      as weir.maintain
-- Returns: maintain_step: how much it did; 0 also where somebody else does it at this moment, or where it failed, which
--   a warning tells; maintenance: the steps in their order, none when somebody began them within `every`.
-- Raises: WR006, WR012; maintain_step: WR019
-- Locks: an advisory lock on the log's upkeep, tried; the step's.
create or replace function weir.maintain_step(step_name text, log_name text default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    s record;
    l weir_internal.logs;
    v_done int;
begin
    perform weir_internal.check_isolation('maintain');
    select * into s from weir_internal.maintenance_steps() m where m.step_name = maintain_step.step_name;
    select * into l from weir_internal.logs w where w.name = log_name;
    if s.step_name is null or s.per_log <> (l.no is not null) then
        raise exception 'there is no step "%" of log %', step_name, coalesce('"' || log_name || '"', 'null')
            using errcode = 'WR006', hint = 'select * from weir.maintenance() tells the steps.';
    elsif l.no is not null and l.origin is distinct from weir_internal.origin_of(l.schema_name) then
        raise exception 'log "%" came here in a dump', log_name
            using errcode = 'WR019', hint = 'select weir.adopt()';
    elsif not pg_try_advisory_xact_lock(weir_internal.rotation_lock(coalesce(l.no, 0))) then
        return 0;
    end if;
    begin
        execute 'select ' || replace(s.call, '{log}', coalesce(l.schema_name, '')) || ' from (select $1.*) l'
        into v_done using l;
    exception
        when others then
            raise warning 'maintain: step "%" of log %: % (%)', step_name, coalesce('"' || log_name || '"', 'null'),
                sqlerrm, sqlstate;
    end;
    return coalesce(v_done, 0);
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
