-- pgmq.send_topic(routing_key, msg, headers, delay)
-- Sends a message to every queue that is bound to a topic, to each once. Four forms; that with headers and no delay is
-- one that PGMQ has not and its clients call.
--
-- Parameters:
--   routing_key  the topic
--   msg          any jsonb, but null
--   headers      any jsonb, or null
--   delay        seconds
-- Returns: how many queues it went to.
-- Raises: P0001, WR019
-- Locks: as pgmq.send.
create or replace function pgmq.send_topic(routing_key text, msg jsonb, headers jsonb, delay integer)
returns integer
language plpgsql
as $$
declare
    v_sent int;
begin
    perform pgmq.validate_routing_key(routing_key);
    perform pgmq._refuse('msg cannot be NULL', 'Give a message.') where msg is null;
    perform pgmq._refuse(format('delay cannot be negative, got: %s', delay), 'Give 0 or more seconds.') where delay < 0;
    perform pgmq.send(b.queue_name, msg, headers, delay)
    from (select distinct t.queue_name from pgmq.topic_bindings t where routing_key ~ t.compiled_regex order by 1) b;
    get diagnostics v_sent = row_count;
    return v_sent;
end
$$;
create or replace function pgmq.send_topic(routing_key text, msg jsonb)
returns integer
language plpgsql
as $$
begin
    return pgmq.send_topic(routing_key, msg, null, 0);
end
$$;
create or replace function pgmq.send_topic(routing_key text, msg jsonb, headers jsonb)
returns integer
language plpgsql
as $$
begin
    return pgmq.send_topic(routing_key, msg, headers, 0);
end
$$;
create or replace function pgmq.send_topic(routing_key text, msg jsonb, delay integer)
returns integer
language plpgsql
as $$
begin
    return pgmq.send_topic(routing_key, msg, null, delay);
end
$$;
