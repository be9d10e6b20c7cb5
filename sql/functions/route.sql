-- weir.route(topic)
-- Where publish would send messages of a topic. It sends nothing.
--
-- Parameters:
--   topic  words of A-Z, a-z, 0-9, _ and -, separated by dots
-- Returns: the names of the queues with a binding that matches, each once, in order; none when no binding does.
-- Raises: WR005
-- Locks: none
create or replace function weir.route(topic text)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_words text[];
begin
    perform weir_internal.check_topic('topic', topic);
    v_words := string_to_array(topic, '.');
    return query
    select distinct q.name
    from (
        select array_to_string(v_words[1:i], '.') as prefix, cardinality(v_words) - i as words,
            coalesce('.' || nullif(array_to_string(v_words[i + 1:], ';.'), '') || ';', '') as rest
        from generate_series(0, cardinality(v_words)) i
    ) t
    join weir_internal.bindings b on b.prefix = t.prefix
        and case
            when b.words <> t.words or t.rest not like b.rest then false
            when b.regex is null then true
            else t.rest ~ b.regex
        end
    join weir_internal.queues q on q.no = b.queue_no
    order by q.name;
end
$$;
