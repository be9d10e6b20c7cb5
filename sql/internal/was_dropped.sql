-- weir_internal.was_dropped(p_function, p_oid)
-- Whether a function of a queue's gates, or of a log, is not what it was when somebody was about to call it: the queue,
-- or the log, was dropped since, or before. A log that is there without its function is another matter. One look tells
-- it, for a log may be made anew at the same time.
--
-- Parameters:
--   p_function  the qualified, quoted name
--   p_oid       what it was; null = not there
-- Returns: true = dropped.
-- Raises: none
-- Locks: none
create or replace function weir_internal.was_dropped(p_function text, p_oid oid)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select case when p_oid is not null then to_regproc(p_function) is distinct from p_oid
        else not exists (
            select from pg_namespace n
            where n.nspname = split_part(p_function, '.', 1) and n.nspname <> 'weir_gates' and not exists (
                select from pg_proc p where p.pronamespace = n.oid and p.proname = split_part(p_function, '.', 2)))
        end
$$;
