-- weir_internal.make_gates(q, p_gates), gate_definition(q, p_gate), gates_of(p_queue), has_gates(p_queue),
-- drop_gates(p_queue, p_all), rename_gates(p_queue, p_new_name), remake_gates(q)
-- A queue's gates: definer functions of one line, each for a function whose first argument is the queue's name, which
-- the gate says itself. A definer function cannot know its caller; so EXECUTE on the gate is the right, and a queue
-- that nobody was granted has none. While it moves, they call what weir_internal.call would.
--
-- Parameters:
--   q           the queue
--   p_gates     names of functions: see weir_internal.rights
--   p_queue     name of the queue
--   p_all       false: only those that nobody may execute any more
--   p_new_name  the name that it has now
--   p_gate      name of one
-- Returns: gate_definition: the statement that makes it, null where there is no such function. gates_of: the gates that
-- are there. has_gates: whether there is any. Else nothing.
-- Raises: none
-- Locks: drop_gates, rename_gates: ACCESS EXCLUSIVE on the gates; the caller holds the lock of rights.
create or replace function weir_internal.gate_definition(q weir_internal.queues, p_gate text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select format(
        'create or replace function weir_gates.%1$I(%2$s) returns %3$s language plpgsql security definer
         set search_path = pg_catalog, pg_temp as $gate$ begin %4$s; end $gate$',
        p_gate || ':' || q.name,
        regexp_replace(pg_get_function_arguments(p.oid), '^(p_queue|queue_name) text(, )?', ''),
        pg_get_function_result(p.oid),
        format(
            case when p.proretset then 'return query select * from %s'
                 when p.proallargtypes is not null then 'select * into ' || (
                     select string_agg(quote_ident(n), ', ' order by i)
                     from unnest(p.proargnames, p.proargmodes) with ordinality u (n, m, i) where m = 'o') || ' from %s'
                 when p.prorettype = 'void'::regtype then 'perform %s'
                 else 'return %s' end,
            format('%s(%L%s)', coalesce(m.name, p.oid::regproc::text), q.name,
                (select string_agg(', $' || i, '' order by i) from generate_series(1, p.pronargs - 1) i))))
    from pg_proc p
    join weir_internal.logs l on l.no = q.log_no
    join pg_namespace n on n.oid = p.pronamespace and n.nspname in (l.schema_name, 'weir_internal')
    cross join lateral (
        select case when q.moving_from is not null
                    then to_regproc('weir_internal.moving_' || p_gate)::text end as name) m
    where p.proname = p_gate and p.proargnames[1] in ('p_queue', 'queue_name') and p.proargtypes[0] = 'text'::regtype
    order by n.nspname = 'weir_internal' limit 1
$$;
create or replace function weir_internal.make_gates(q weir_internal.queues, p_gates text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_gate text;
    v_definition text;
begin
    foreach v_gate in array p_gates loop
        v_definition := weir_internal.gate_definition(q, v_gate);
        if v_definition is not null then
            execute v_definition;
            execute format('revoke all on function weir_gates.%I from public', v_gate || ':' || q.name);
        end if;
    end loop;
end
$$;
create or replace function weir_internal.gates_of(p_queue text)
returns setof pg_proc
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select * from pg_proc
    where pronamespace = 'weir_gates'::regnamespace
        and proname = any(array(select distinct g || ':' || p_queue
                                from weir_internal.rights() r cross join unnest(r.gates) g))
$$;
create or replace function weir_internal.has_gates(p_queue text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return exists ( -- each right has its first gate
        select from pg_proc
        where proname in ('send:' || p_queue, 'receive:' || p_queue, 'administer:' || p_queue)
            and pronamespace = 'weir_gates'::regnamespace);
end
$$;
create or replace function weir_internal.drop_gates(p_queue text, p_all boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_gate regprocedure;
    v_roles name[] := '{}';
    v_role name;
begin
    if p_all then
        v_roles := array(select distinct h.role_name from weir_internal.held_rights() h where h.queue_name = p_queue);
    end if;
    for v_gate in
        select g.oid from weir_internal.gates_of(p_queue) g
        where p_all or not exists (select from aclexplode(g.proacl) a where a.grantee <> g.proowner)
    loop
        execute format('drop function %s', v_gate);
    end loop;
    foreach v_role in array v_roles loop
        perform weir_internal.trim_rights(v_role);
    end loop;
end
$$;
create or replace function weir_internal.rename_gates(p_queue text, p_new_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    g record;
begin
    select * into q from weir_internal.queues w where w.name = p_new_name;
    for g in
        select oid::regprocedure as signature, split_part(proname, ':', 1) as gate
        from weir_internal.gates_of(p_queue)
    loop
        execute format('alter function %s rename to %I', g.signature, g.gate || ':' || p_new_name);
        perform weir_internal.make_gates(q, array[g.gate]);
    end loop;
end
$$;
create or replace function weir_internal.remake_gates(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.make_gates(
        q, array(select split_part(g.proname, ':', 1) from weir_internal.gates_of(q.name) g));
end
$$;
