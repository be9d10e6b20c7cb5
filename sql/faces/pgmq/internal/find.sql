-- pgmq._find(p_queue), pgmq._group(q), pgmq._fail_unknown(p_queue)
-- _find: the engine's queue of a name. _group: its group, whose readers are those of PGMQ. _fail_unknown: says that
-- there is no such queue, as PGMQ does.
--
-- Parameters:
--   p_queue  the name as PGMQ's clients know it
--   q        the queue
-- Returns: the row; _fail_unknown: nothing, it raises.
-- Raises: 42P01, WR003, WR019; P0001 for a name that no queue can have
-- Locks: none
create or replace function pgmq._find(p_queue text)
returns weir_internal.queues
language plpgsql
as $$
declare
    q weir_internal.queues;
begin
    select * into q from weir_internal.queues w where w.name = 'pgmq.' || lower(p_queue);
    if q.no is null then
        perform pgmq._fail_unknown(p_queue);
    elsif q.origin is distinct from array['weir_log_pgmq.log_0'::regclass::oid, 'weir_log_pgmq.log_ring'::regclass::oid]
    then
        return weir_log_pgmq.find_queue(q.name); -- it came here in a dump
    end if;
    return q;
end
$$;
create or replace function pgmq._group(q weir_internal.queues)
returns weir_internal.groups
language plpgsql
as $$
declare
    g weir_internal.groups;
begin
    select * into g from weir_internal.groups w where w.queue_no = q.no and w.name = 'default';
    if g.no is null then
        raise exception 'queue "%" has no group "default"', q.name
            using errcode = 'WR003', hint = 'PGMQ reads as that group. Create it: select weir.create_group(...).';
    end if;
    return g;
end
$$;
create or replace function pgmq._fail_unknown(p_queue text)
returns void
language plpgsql
as $$
declare
    v_table text := pgmq.format_table_name(p_queue, 'q');
begin
    if v_table is null then
        raise exception 'null values cannot be formatted as an SQL identifier'
            using errcode = '22004', hint = 'The name of the queue is null.';
    end if;
    raise exception 'relation "pgmq.%" does not exist', v_table
        using errcode = '42P01', hint = 'Create the queue first: select pgmq.create(...).';
end
$$;
