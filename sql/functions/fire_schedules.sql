-- weir.fire_schedules()
-- Enqueues the jobs of all schedules that are due. maintain does it; anyone may call it at any time, any number at
-- once: each due time is fired once, by whoever comes first. A schedule that cannot be fired, because its queue is full
-- for example, notes why and is tried again by a later call; those that could be fired the last time go first.
--
-- Returns: how many jobs it enqueued.
-- Raises: WR012
-- Locks: the rows of the schedules that it fires, tried, until the transaction ends; as enqueue on their queues.
create or replace function weir.fire_schedules()
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    s weir_internal.schedules;
    v_name text;
    v_count int := 0;
    v_now timestamptz := weir_internal.clock();
begin
    perform weir_internal.check_isolation('fire_schedules');
    foreach v_name in array (
        select coalesce(array_agg(d.name order by d.error is not null, d.next_at), '{}')
        from ((select t.* from weir_internal.schedules t
               where t.next_at <= v_now and not t.paused and t.error is null order by t.next_at limit 100)
              union all
              (select t.* from weir_internal.schedules t
               where t.next_at <= v_now and not t.paused and t.error is not null order by random() limit 100)) d
        join weir_internal.queues w on w.no = d.queue_no
        join weir_internal.logs l on l.no = w.log_no
        where w.origin = weir_internal.origin_of(l.schema_name))
    loop
        select * into s from weir_internal.schedules
        where name = v_name and next_at <= v_now and not paused for update skip locked;
        continue when not found;
        select * into q from weir_internal.queues where no = s.queue_no;
        begin
            v_count := v_count + weir_internal.fire_schedule(q, s);
        exception
            when others then
                update weir_internal.schedules set error = sqlstate || ': ' || sqlerrm
                where name = s.name and error is distinct from sqlstate || ': ' || sqlerrm;
        end;
    end loop;
    return v_count;
end
$$;
