-- pgmq.send(queue_name, msg, headers, delay)
-- Sends a message. Six forms: with or without headers, at once, after seconds, or not before a time.
--
-- Parameters:
--   queue_name  the queue
--   msg         any jsonb, or null
--   headers     any jsonb, or null
--   delay       seconds, or the time before which it is not read
-- Returns: its id.
-- Raises: 42P01, 23502 for a delay that is null, WR019
-- Locks: ROW EXCLUSIVE on the open segment, until the transaction ends.
create or replace function pgmq.send(queue_name text, msg jsonb)
returns setof bigint
language plpgsql
as $$
begin
    return next pgmq._append(queue_name, null, array[msg::text], null);
end
$$;
create or replace function pgmq.send(queue_name text, msg jsonb, headers jsonb)
returns setof bigint
language plpgsql
as $$
begin
    return next pgmq._append(queue_name, null, array[msg::text], case when headers is not null then array[headers] end);
end
$$;
create or replace function pgmq.send(queue_name text, msg jsonb, delay integer)
returns setof bigint
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch(queue_name, array[msg], null, delay);
end
$$;
create or replace function pgmq.send(queue_name text, msg jsonb, delay timestamptz)
returns setof bigint
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch(queue_name, array[msg], null, delay);
end
$$;
create or replace function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay integer)
returns setof bigint
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch(queue_name, array[msg], array[headers], delay);
end
$$;
create or replace function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay timestamptz)
returns setof bigint
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch(queue_name, array[msg], array[headers], delay);
end
$$;
