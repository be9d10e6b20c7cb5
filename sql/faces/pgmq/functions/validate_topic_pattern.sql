-- pgmq.validate_topic_pattern(pattern), pgmq.validate_routing_key(routing_key), pgmq._refuse(p_message, p_hint)
-- Refuse a pattern, or a key, that is none. _refuse: raises what PGMQ raises. It is volatile, or planning would raise
-- it.
--
-- Parameters:
--   pattern      words between dots; * is one word, # any text
--   routing_key  words between dots
--   p_message    what is wrong
--   p_hint       the cure
-- Returns: true.
-- Raises: P0001
-- Locks: none
create or replace function pgmq._refuse(p_message text, p_hint text)
returns void
language plpgsql
as $$
begin
    raise exception '%', p_message using errcode = 'P0001', hint = p_hint;
end
$$;
create or replace function pgmq.validate_topic_pattern(pattern text)
returns boolean
language plpgsql immutable
as $$
declare
    v_hint constant text := 'A pattern is like logs.*.error or logs.#.';
begin
    perform pgmq._refuse(w.problem, v_hint)
    from (
        select case
            when coalesce(pattern, '') = '' then 'pattern cannot be NULL or empty'
            when length(pattern) > 255 then
                format('pattern length cannot exceed 255 characters, got %s characters', length(pattern))
            when pattern !~ '^[a-zA-Z0-9._\-*#]+$' then
                format('pattern contains invalid characters. Only alphanumeric, dots, hyphens, underscores, *, and # '
                    'are allowed. Got: %s', pattern)
            when pattern like '.%' then format('pattern cannot start with a dot. Got: %s', pattern)
            when pattern like '%.' then format('pattern cannot end with a dot. Got: %s', pattern)
            when pattern like '%..%' then format('pattern cannot contain consecutive dots. Got: %s', pattern)
            when pattern like '%**%' then format('pattern cannot contain consecutive stars (**). '
                'Use # for multi-segment matching. Got: %s', pattern)
            when pattern like '%##%' then format('pattern cannot contain consecutive hashes (##). '
                'A single # already matches zero or more segments. Got: %s', pattern)
            when pattern like '%*#%' or pattern like '%#*%' then format('pattern cannot contain adjacent wildcards '
                '(*# or #*). Separate wildcards with dots. Got: %s', pattern)
            end as problem) w
    where w.problem is not null;
    return true;
end
$$;
create or replace function pgmq.validate_routing_key(routing_key text)
returns boolean
language plpgsql immutable
as $$
begin
    perform pgmq._refuse(w.problem, 'A key is like logs.api.error.')
    from (
        select case
            when coalesce(routing_key, '') = '' then 'routing_key cannot be NULL or empty'
            when length(routing_key) > 255 then
                format('routing_key length cannot exceed 255 characters, got %s characters', length(routing_key))
            when routing_key !~ '^[a-zA-Z0-9._-]+$' then format('routing_key contains invalid characters. Only '
                'alphanumeric, dots, hyphens, and underscores are allowed. Got: %s', routing_key)
            when routing_key like '.%' then format('routing_key cannot start with a dot. Got: %s', routing_key)
            when routing_key like '%.' then format('routing_key cannot end with a dot. Got: %s', routing_key)
            when routing_key like '%..%' then
                format('routing_key cannot contain consecutive dots. Got: %s', routing_key)
            end as problem) w
    where w.problem is not null;
    return true;
end
$$;
