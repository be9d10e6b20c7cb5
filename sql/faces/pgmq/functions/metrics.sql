-- pgmq.metrics(queue_name), pgmq.metrics_all()
-- How queues stand.
--
-- Parameters:
--   queue_name  the queue
-- Returns: one row a queue; see pgmq.metrics_result.
-- Raises: 42P01, WR019
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function pgmq.metrics(queue_name text)
returns pgmq.metrics_result
language plpgsql
as $$
declare
    c record := pgmq._count(queue_name);
begin
    return row(queue_name, c.n, extract(epoch from now() - c.newest)::int, extract(epoch from now() - c.oldest)::int,
        coalesce(pg_sequence_last_value(pgmq._sequence(queue_name)::regclass), 0), now(), c.visible,
        null)::pgmq.metrics_result;
end
$$;
create or replace function pgmq.metrics_all()
returns setof pgmq.metrics_result
language plpgsql
as $$
begin
    return query select (pgmq.metrics(m.queue_name)).* from pgmq.meta m;
end
$$;
