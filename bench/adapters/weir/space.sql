-- Dead tuples and bytes of everything that belongs to the system.
select coalesce(sum(pg_stat_get_dead_tuples(c.oid)), 0)::bigint as dead_tuples,
    coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
from pg_class c
where c.relnamespace in (select n.oid from pg_namespace n where n.nspname in ('weir', 'weir_internal', 'weir_log'))
    and c.relkind in ('r', 'S')
