-- weir_internal.fold_keyed_queues()
-- Sets queues.keyed of queues that were sent a first key, and deletes what noted it: see tables/keyed_queues.sql. A
-- queue whose row is locked is left for the next time.
--
-- Returns: how many queues it did.
-- Raises: none
-- Locks: rows of queues, tried.
create or replace function weir_internal.fold_keyed_queues()
returns int
language plpgsql
as $$
declare
    v_no int;
    v_done int := 0;
begin
    for v_no in
        with recursive l (queue_no, i) as (
            select (select k.queue_no from weir_internal.keyed_queues k order by k.queue_no limit 1), 1
            union all
            select (select k.queue_no from weir_internal.keyed_queues k where k.queue_no > l.queue_no
                    order by k.queue_no limit 1), l.i + 1
            from l where l.queue_no is not null and l.i < 100)
        select queue_no from l where queue_no is not null
    loop
        continue when not exists (select from weir_internal.queues where no = v_no for no key update skip locked)
            and exists (select from weir_internal.queues where no = v_no);
        update weir_internal.queues set keyed = true where no = v_no and not keyed;
        delete from weir_internal.keyed_queues where queue_no = v_no;
        v_done := v_done + 1;
    end loop;
    return v_done;
end
$$;
