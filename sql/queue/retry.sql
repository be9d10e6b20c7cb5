-- retry
-- Template of weir_internal.<q>_retry: sends messages to one group again. Also what is due at once goes through
-- `later`: the ordinary lanes of the log hold what was sent and nothing else, so that a position in them is never
-- ambiguous.
--
-- Parameters:
--   g           the group
--   p_messages  the messages, attempts counting every delivery so far
--   p_delay     0 = at once; null = the group's backoff
-- Returns: nothing.
-- Raises: WR006
-- Locks: ROW EXCLUSIVE on `later`, until the transaction ends.
insert into weir_internal.templates (name, body) values ('retry', $template$
create or replace function weir_internal.{q}_retry(
    g weir_internal.groups, p_messages weir_internal.later_row[], p_delay interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    insert into weir_internal.{q}_later
    select pg_current_xact_id(),
        weir_internal.due_at({no}, 'weir_internal.{q}_later_clock',
            coalesce(p_delay, weir_internal.backoff(g, m.attempts))),
        m.id, g.id, m.attempts, m.key, m.payload, m.headers, m.enqueued_at, m.reason
    from unnest(p_messages) m;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
