-- pgmq.list_topic_bindings(), pgmq.list_topic_bindings(queue_name), pgmq.test_routing(routing_key)
-- What is bound: all of it, what is of a queue, or what covers a topic.
--
-- Parameters:
--   queue_name   the queue
--   routing_key  the topic
-- Returns: one row a binding, the newest first; test_routing: by pattern.
-- Raises: P0001
-- Locks: none
create or replace function pgmq.list_topic_bindings()
returns table (pattern text, queue_name text, bound_at timestamptz, compiled_regex text)
language sql stable
as $$
    select b.pattern, b.queue_name, b.bound_at, b.compiled_regex from pgmq.topic_bindings b
    order by b.bound_at desc, b.pattern, b.queue_name
$$;
create or replace function pgmq.list_topic_bindings(queue_name text)
returns table (pattern text, queue_name text, bound_at timestamptz, compiled_regex text)
language sql stable
as $$
    select b.pattern, b.queue_name, b.bound_at, b.compiled_regex from pgmq.topic_bindings b
    where b.queue_name = list_topic_bindings.queue_name order by b.bound_at desc, b.pattern
$$;
create or replace function pgmq.test_routing(routing_key text)
returns table (pattern text, queue_name text, compiled_regex text)
language plpgsql stable
as $$
begin
    perform pgmq.validate_routing_key(routing_key);
    return query
    select b.pattern, b.queue_name, b.compiled_regex from pgmq.topic_bindings b
    where routing_key ~ b.compiled_regex order by b.pattern;
end
$$;
