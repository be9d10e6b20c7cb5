-- weir.adopt(queue_name)
-- Makes queues that came in a dump usable: after pg_dump and restore every call on them fails with WR019, because what
-- they know of transactions is of another cluster. Each group is delivered again what it had not finished when the dump
-- was taken, claimed or not, with the ids, keys, times and attempts it had, in order per key. What was under a claim
-- counts as delivered once more; an ack with such a claim fails with WR010. All else stays: dead letters, what is
-- delayed, settings, pauses, topics, rights. Queues that need nothing are left alone. For the role that installed Weir.
--
-- Parameters:
--   queue_name  one queue; null = every queue that needs it, all in this transaction
-- Returns: how many queues it adopted.
-- Raises: WR001, WR012
-- Locks: the lock for the creation of queues and each queue's administration lock; ACCESS EXCLUSIVE on the tables of
-- each queue, about 60 locks a queue. All until the transaction ends.
create or replace function weir.adopt(queue_name text default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_count int := 0;
begin
    perform weir_internal.check_isolation('adopt');
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    if queue_name is not null and not exists (select from weir_internal.queues where name = queue_name) then
        perform weir_internal.find_queue(queue_name);
    end if;
    for q in
        select * from weir_internal.queues w
        where (queue_name is null or w.name = queue_name) and w.birth <> weir_internal.birth_of(w.no)
        order by w.no
    loop
        perform weir_internal.adopt_queue(q);
        v_count := v_count + 1;
    end loop;
    return v_count;
end
$$;
