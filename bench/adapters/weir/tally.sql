-- What the database says: messages sent, and messages finished by all readers together. The group that every queue is
-- born with is no reader where a run has made others.
select max(sent) as sent,
    sum(least(delivered - claimed, sent - case when exact then waiting + claimed + delayed + parked else 0 end))::bigint
        as done
from weir.stats('bench') s
where group_name <> 'default' or not exists (select from weir.list_groups('bench') g where g.group_name <> 'default')
