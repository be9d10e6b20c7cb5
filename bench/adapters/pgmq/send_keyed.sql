-- Sends a batch with keys, which PGMQ has in a header. $1: the payloads as text[]. $2: a key for each.
-- https://github.com/pgmq/pgmq/blob/main/docs/fifo-queues.md
select pgmq.send_batch('bench', $1::text[]::jsonb[],
    (select array_agg(jsonb_build_object('x-pgmq-group', key) order by i)
    from unnest($2::text[]) with ordinality u (key, i)))
