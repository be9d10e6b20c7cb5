-- wake
-- Template of weir_internal.<q>_wake and "mark_waiting:<queue>": the mark that somebody waits, and its end. Whoever
-- sends sees the mark, a sequence, at the cost of reading it; the first to see it takes it away and notifies. So a
-- queue under load sends no notification, and NOTIFY's lock on the database is taken only when it serves somebody.
-- In a queue with limited groups <q>_free does the same for what was held back by a group's concurrency_max: whoever
-- ends messages of such a group sees the mark <q>_held.
--
-- Parameters:
--   p_slot  free: the slot of the claim whose messages ended
-- Returns: wake, free: nothing; mark_waiting: the channel to LISTEN on.
-- Raises: none
-- Locks: none; the notification is sent when the transaction commits.
insert into weir_internal.templates (name, body) values ('wake', $template$
create or replace function weir_internal.{q}_wake()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    perform setval('weir_internal.{q}_waiting', 0);
    perform pg_notify('weir:{name}', '');
end
$body$;
create or replace function weir_internal."mark_waiting:{name}"()
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    if pg_sequence_last_value('weir_internal.{q}_waiting') is distinct from 1 then -- null after a crash
        perform setval('weir_internal.{q}_waiting', 1);
    end if;
    return 'weir:{name}';
end
$body$;
--{ {throttled}
create or replace function weir_internal.{q}_free(p_slot smallint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
    if p_slot / ({lanes} + 1) = any({throttled_groups}) then
        perform setval('weir_internal.{q}_held', 0);
        perform pg_notify('weir:{name}', '');
    end if;
end
$body$
--}
$template$) on conflict (name) do update set body = excluded.body;
