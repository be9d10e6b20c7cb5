-- What the database says: messages sent, and messages finished by all readers together. Nobody counts what is sent, so
-- that is null and the driver's own count holds. What was delivered is what the cursors have counted. The group that
-- every queue is born with is no reader where a run has made others.
with readers as (
    select g.no, g.name from weir_internal.groups g join weir_internal.queues q on q.no = g.queue_no
    where q.name = 'bench' and (g.name <> 'default' or not exists (
        select from weir_internal.groups o where o.queue_no = g.queue_no and o.name <> 'default'))
), cursors as (
    select distinct on (c.group_no, c.lane, c.stripe) c.total
    from weir_log.claims_2 c join readers r on r.no = c.group_no
    where c.kind = 'c'
    order by c.group_no, c.lane, c.stripe, c.id desc
)
select null::bigint as sent,
    ((select coalesce(sum(total), 0) from cursors)
     - (select coalesce(sum(s.claimed + s.expired + s.parked), 0)
        from weir.stats('bench') s join readers r on r.name = s.group_name))::bigint as done
