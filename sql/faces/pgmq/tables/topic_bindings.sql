-- Which queues get what is sent to a topic.
create table if not exists pgmq.topic_bindings (
    pattern        text not null,                        -- words between dots; * is one word, # any text
    queue_name     text not null                         -- the queue
        constraint topic_bindings_meta_queue_name_fk references pgmq.meta (queue_name) on delete cascade,
    bound_at       timestamptz default now() not null,   -- when it was bound
    compiled_regex text generated always as (
        '^' || replace(replace(replace(pattern, '.', '\.'), '*', '[^.]+'), '#', '.*') || '$') stored, -- of the pattern
    constraint topic_bindings_unique_pattern_queue unique (pattern, queue_name)
);
