-- weir.bind(pattern, queue_name)
-- Sends the messages of some topics to a queue, from the commit on. Binding what is bound changes nothing. Topics are
-- one for the whole database, so this is for the role that installed Weir, and for those to whom it grants EXECUTE.
--
-- Parameters:
--   pattern     words separated by dots; "*" stands for any one word, "#" for any number of words, none included
--   queue_name  the queue
-- Returns: nothing.
-- Raises: WR001, WR005
-- Locks: none
create or replace function weir.bind(pattern text, queue_name text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    v_words text[];
    v_literal int := 0; -- words before the first wildcard
    v_prefix text;
    v_rest text;
    v_regex text;
begin
    perform weir_internal.check_topic('pattern', pattern);
    v_words := string_to_array(pattern, '.');
    while v_literal < cardinality(v_words) and v_words[v_literal + 1] not in ('*', '#') loop
        v_literal := v_literal + 1;
    end loop;
    v_prefix := array_to_string(v_words[1:v_literal], '.');
    v_words := v_words[v_literal + 1:];
    select coalesce(string_agg(
            case w when '*' then '.%;' when '#' then '%' else '.' || replace(w, '_', '\_') || ';' end, ''
            order by i), ''),
        '^' || string_agg(
            case w when '*' then '\.[^.]+;' when '#' then '(\.[^.]+;)*' else '\.' || w || ';' end, '' order by i) || '$'
    into v_rest, v_regex
    from unnest(v_words) with ordinality as u (w, i);
    insert into weir_internal.bindings (pattern, queue_no, prefix, rest, words, regex)
    values (bind.pattern, q.no, v_prefix, v_rest,
        case when '#' = any(v_words) then null else cardinality(v_words) end,
        case when array['#', '*'] <@ v_words then v_regex end)
    on conflict do nothing;
end
$$;
