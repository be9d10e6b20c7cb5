-- weir_log.mark_special(q), weir_log.clear_special()
-- Whether receives of a queue must look aside. 64 sequences, which several queues share, say 1 while one of their
-- queues may have something delayed or claimed out of that, keys that its row does not tell of yet, or something
-- cancelled; a plain receive looks for these only then. Who adds such a row marks it first; maintain clears the mark
-- when there is none, while nobody who marked it has an open transaction.
-- Parameters:
--   q  the queue
-- Returns: mark_special: nothing; clear_special: how many marks were cleared.
-- Raises: none
-- Locks: mark_special: the mark's, shared with others that mark, until the transaction ends; clear_special: tried.
create or replace function weir_log.mark_special(q weir_internal.queues)
returns void
language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(weir_internal.special_lock(q.special));
    if pg_sequence_last_value(q.special) = 0 then
        perform setval(q.special, 1);
    end if;
end
$$;
create or replace function weir_log.clear_special()
returns int
language plpgsql
as $$
declare
    v_mark regclass;
    v_done int := 0;
begin
    for v_mark in
        select r.oid::regclass from pg_class r
        where r.relnamespace = 'weir_log'::regnamespace and r.relname ~ '^special_\d+$'
            and pg_sequence_last_value(r.oid::regclass) > 0
    loop
        continue when not pg_try_advisory_xact_lock(weir_internal.special_lock(v_mark));
        continue when exists (
            select from weir_internal.queues q
            where q.special = v_mark
                and (exists (select from weir_log.delayed d where d.queue_no = q.no)
                    or exists (select from weir_internal.keyed_queues k where k.queue_no = q.no)
                    or exists (select from weir_internal.cancellations n where n.queue_no = q.no)
                    or exists (
                        select from weir_internal.groups g
                        cross join lateral (
                            select c.next_expiry from weir_log.claims_2 c
                            where c.kind = 'c' and c.group_no = g.no and c.lane = -1 and c.stripe = 1
                            order by c.id desc limit 1) c
                        where g.queue_no = q.no and c.next_expiry < 'infinity')));
        perform setval(v_mark, 0);
        v_done := v_done + 1;
    end loop;
    return v_done;
end
$$;
