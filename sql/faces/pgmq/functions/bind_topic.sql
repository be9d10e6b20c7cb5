-- pgmq.bind_topic(pattern, queue_name), pgmq.unbind_topic(pattern, queue_name)
-- Have a queue get what is sent to topics that a pattern covers, or no more.
--
-- Parameters:
--   pattern     words between dots; * is one word, # any text
--   queue_name  the queue
-- Returns: bind_topic: nothing, also when it was bound; unbind_topic: whether it was bound.
-- Raises: P0001
-- Locks: ROW EXCLUSIVE on topic_bindings, until the transaction ends.
create or replace function pgmq.bind_topic(pattern text, queue_name text)
returns void
language plpgsql
as $$
begin
    perform pgmq.validate_topic_pattern(pattern);
    perform pgmq._refuse('queue_name cannot be NULL or empty', 'Name a queue.') where coalesce(queue_name, '') = '';
    perform pgmq._refuse(
        format('Queue "%s" does not exist. Create the queue first using pgmq.create()', queue_name), 'As it says.')
    where not exists (select from pgmq.meta m where m.queue_name = bind_topic.queue_name);
    insert into pgmq.topic_bindings (pattern, queue_name) values (pattern, queue_name)
    on conflict on constraint topic_bindings_unique_pattern_queue do nothing;
end
$$;
create or replace function pgmq.unbind_topic(pattern text, queue_name text)
returns boolean
language plpgsql
as $$
begin
    perform pgmq._refuse('pattern cannot be NULL or empty', 'Give the pattern.') where coalesce(pattern, '') = '';
    perform pgmq._refuse('queue_name cannot be NULL or empty', 'Name a queue.') where coalesce(queue_name, '') = '';
    delete from pgmq.topic_bindings b
    where b.pattern = unbind_topic.pattern and b.queue_name = unbind_topic.queue_name;
    return found;
end
$$;
