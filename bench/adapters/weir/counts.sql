-- What the database says: messages sent, messages finished, messages received and not finished. Nobody counts what is
-- sent: while a queue is not received from, its log has all of it; later it is null, and the driver's own count holds.
-- What was delivered is what the cursors have counted. Nothing is delivered twice in these runs.
with cursors as (
    select distinct on (c.group_no, c.lane, c.stripe) c.total
    from weir_log.claims_2 c join weir_internal.groups g on g.no = c.group_no
    where c.kind = 'c' and g.name = 'default'
    order by c.group_no, c.lane, c.stripe, c.id desc
), delivered as (select coalesce(sum(total), 0)::bigint as n from cursors)
select case when d.n = 0 then (
        select coalesce(sum(r.n), 0) from (
            select n from weir_log.log_0 union all select n from weir_log.log_1 union all select n from weir_log.log_2) r
    )::bigint end as sent,
    d.n - s.claimed - s.expired as consumed, s.claimed + s.expired as claimed
from delivered d cross join weir.stats('bench') s
where s.group_name = 'default'
