-- weir_internal.read_steps(p_queue, p_steps)
-- Reads the steps of a workflow that are written as JSON.
--
-- Parameters:
--   p_queue  name of the queue, for the error
--   p_steps  objects as weir.start_workflow takes them
-- Returns: one row a step, workflow null.
-- Raises: WR055
-- Locks: none
create or replace function weir_internal.read_steps(p_queue text, p_steps jsonb[])
returns setof weir_internal.workflow_steps
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s weir_internal.workflow_steps;
    v_names jsonb := '{}'; -- numbers by name
    v_wrong text;
    j jsonb;
begin
    if p_steps is null or cardinality(p_steps) not between 1 and 100000 or array_ndims(p_steps) > 1 then
        raise exception 'a workflow of queue "%" has % steps', p_queue, coalesce(cardinality(p_steps)::text, 'null')
            using errcode = 'WR055', hint = 'Give an array of 1 to 100,000 JSON objects.';
    end if;
    s.no := 0;
    foreach j in array p_steps loop
        s.no := s.no + 1;
        s.name := coalesce(j ->> 'name', s.no::text);
        select f into v_wrong from jsonb_object_keys(case when jsonb_typeof(j) = 'object' then j end) f
        where f not in ('name', 'kind', 'args', 'key', 'headers', 'after', 'after_all') limit 1;
        v_wrong := case
            when jsonb_typeof(j) is distinct from 'object' then 'is no object'
            when v_wrong is not null then 'has a field ' || quote_ident(v_wrong)
            when v_names ? s.name then 'has the name of another'
            when length(s.name) not between 1 and 255 then 'has a name of ' || length(s.name) || ' characters'
            when j ? 'after' and jsonb_typeof(j -> 'after') <> 'array' then 'has an "after" that is no array'
            when j ? 'after' then 'comes after ' || (
                select quote_literal(a) from jsonb_array_elements_text(
                    case jsonb_typeof(j -> 'after') when 'array' then j -> 'after' end) a
                where not v_names ? a limit 1) end;
        if v_wrong is not null then
            raise exception 'step % of a workflow of queue "%" %', left(s.name, 100), p_queue, left(v_wrong, 200)
                using errcode = 'WR055', hint = 'Give objects of "kind" and, as needed, "name", "args", "key", '
                    '"headers" and "after": names of steps that stand before it.';
        end if;
        s.after := array(select distinct (v_names -> a)::int from jsonb_array_elements_text(j -> 'after') a);
        s.after := nullif(s.after, '{}');
        s.after_all := coalesce((j -> 'after_all') = 'true', false);
        s.kind := j ->> 'kind';
        s.args := coalesce(j -> 'args', '{}');
        s.key := j ->> 'key';
        s.headers := j -> 'headers';
        v_names := v_names || jsonb_build_object(s.name, s.no);
        return next s;
    end loop;
end
$$;
