-- weir_internal.check_topic(p_what, p_text)
-- Refuses what cannot be a topic, or a pattern of topics.
--
-- Parameters:
--   p_what  'topic' or 'pattern'
--   p_text  words of A-Z, a-z, 0-9, _ and -, separated by dots, 255 characters at most; in a pattern also * and #
-- Returns: nothing.
-- Raises: WR005
-- Locks: none
create or replace function weir_internal.check_topic(p_what text, p_text text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_what = 'topic' and (p_text is null or length(p_text) > 255 or p_text !~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$')
    then
        raise exception 'topic % is not valid', coalesce(quote_literal(left(p_text, 300)), 'null')
            using errcode = 'WR005',
            hint = 'Use words of A-Z, a-z, 0-9, "_" and "-", separated by dots; 255 characters at most.';
    end if;
    if p_what = 'pattern' and (p_text is null or length(p_text) > 255
        or p_text !~ '^([A-Za-z0-9_-]+|[*#])(\.([A-Za-z0-9_-]+|[*#]))*$') then
        raise exception 'pattern % is not valid', coalesce(quote_literal(left(p_text, 300)), 'null')
            using errcode = 'WR005',
            hint = 'Use words separated by dots, 255 characters at most. A word is "*" (any one word), "#" (any number'
                || ' of words, none included), or made of A-Z, a-z, 0-9, "_" and "-".';
    end if;
end
$$;
