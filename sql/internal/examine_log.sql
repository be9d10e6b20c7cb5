-- weir_internal.examine_log(l)
-- What is wrong with a log, whatever queues it has: see weir.doctor.
--
-- Parameters:
--   l  the log
-- Returns: findings.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.examine_log(l weir_internal.logs)
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    b record;
    v_has_base boolean;
begin
    return query select * from weir_internal.examine_relations(l);
    if found then
        return;
    end if;
    execute format('select exists (select from %s.claims_2 where kind = ''c'' and group_no = 0)', l.schema_name)
    into v_has_base;
    if not v_has_base then
        return next row('error', 'unreadable', null, null, 'log ' || l.name,
            'The claim log has lost its base: no receive knows where to begin.',
            'Something deleted rows of the claim log. Restore the database.')::weir.finding;
        return;
    end if;
    execute format('select * from %s.rotation_blocker('''')', l.schema_name) into b;
    if b.age > interval '1 minute' or b.what ~ '^prepared' then
        return next row('warning', 'transaction_keeps_segment', null, null, b.what,
            format('It has been open for %s; what it touched of the log "%s" cannot be given back. Last statement: %s',
                date_trunc('second', b.age), l.name, left(b.query, 200)),
            case when b.what ~ '^pg_dump' then
                'Wait for the dump to end. If it is none, give the session another application_name.'
            else coalesce(format('End it: select pg_terminate_backend(%s).', b.pid),
                'COMMIT PREPARED or ROLLBACK PREPARED it.') end)::weir.finding;
    end if;
end
$$;
