-- pgmq.send_batch_topic(routing_key, msgs, headers, delay)
-- Sends messages to every queue that is bound to a topic. Six forms: with or without headers, at once, after seconds,
-- or not before a time.
--
-- Parameters:
--   routing_key  the topic
--   msgs         jsonb values, each may be null
--   headers      as many, or null
--   delay        seconds, or the time before which they are not read
-- Returns: one row a queue and message, with its id there.
-- Raises: P0001, 23502 for a delay that is null, WR019
-- Locks: as pgmq.send_batch.
create or replace function pgmq.send_batch_topic(
    routing_key text, msgs jsonb[], headers jsonb[], delay timestamptz)
returns table (queue_name text, msg_id bigint)
language plpgsql
as $$
declare
    v_queue text;
begin
    perform pgmq.validate_routing_key(routing_key);
    perform pgmq._validate_batch_params(msgs, headers);
    for v_queue in
        select distinct t.queue_name from pgmq.topic_bindings t where routing_key ~ t.compiled_regex order by 1
    loop
        return query select v_queue, i from pgmq.send_batch(v_queue, msgs, headers, delay) i;
    end loop;
end
$$;
create or replace function pgmq.send_batch_topic(routing_key text, msgs jsonb[])
returns table (queue_name text, msg_id bigint)
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch_topic(routing_key, msgs, null, weir_internal.clock());
end
$$;
create or replace function pgmq.send_batch_topic(routing_key text, msgs jsonb[], headers jsonb[])
returns table (queue_name text, msg_id bigint)
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch_topic(routing_key, msgs, headers, weir_internal.clock());
end
$$;
create or replace function pgmq.send_batch_topic(routing_key text, msgs jsonb[], delay integer)
returns table (queue_name text, msg_id bigint)
language plpgsql
as $$
begin
    return query
    select * from pgmq.send_batch_topic(
        routing_key, msgs, null, weir_internal.clock() + make_interval(secs => delay));
end
$$;
create or replace function pgmq.send_batch_topic(routing_key text, msgs jsonb[], delay timestamptz)
returns table (queue_name text, msg_id bigint)
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch_topic(routing_key, msgs, null, delay);
end
$$;
create or replace function pgmq.send_batch_topic(routing_key text, msgs jsonb[], headers jsonb[], delay integer)
returns table (queue_name text, msg_id bigint)
language plpgsql
as $$
begin
    return query
    select * from pgmq.send_batch_topic(
        routing_key, msgs, headers, weir_internal.clock() + make_interval(secs => delay));
end
$$;
