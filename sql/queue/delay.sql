-- delay
-- Template of weir_internal.<q>_delay: keeps a message in `later` until it is due. Every group claims it from there.
--
-- Parameters:
--   p_id       the message's id
--   p_payload  jsonb, not null
--   p_key      null or the key
--   p_headers  a jsonb object or null
--   p_delay    positive
-- Returns: the id.
-- Raises: WR006
-- Locks: ROW EXCLUSIVE on `later`, until the transaction ends.
insert into weir_internal.templates (name, body) values ('delay', $template$
create or replace function weir_internal.{q}_delay(
    p_id bigint, p_payload jsonb, p_key text, p_headers jsonb, p_delay interval)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_due timestamptz;
    v_ttl interval;
begin
    select ttl into v_ttl from weir_internal.queues where no = {no};
    if v_ttl > interval '0' and p_delay >= v_ttl then
        raise exception 'a delay of % is not less than %, the ttl of queue "{name}"', p_delay, v_ttl
            using errcode = 'WR006', hint = 'The message would never be delivered. Give a shorter delay.';
    end if;
    v_due := weir_internal.due_at({no}, 'weir_internal.{q}_later_clock', p_delay);
    insert into weir_internal.{q}_later (txid, due_at, id, attempts, key, payload, headers, enqueued_at)
    values (pg_current_xact_id(), v_due, p_id, 0, p_key, p_payload, p_headers, weir_internal.clock());
    return p_id;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
