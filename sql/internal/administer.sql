-- weir_internal.administer(p_queue, p_verb, p_args)
-- What the right to administer a queue is the right to do. The public functions of the same names come here through
-- the queue's own "admin:<queue>", so that the right is one per queue.
--
-- Parameters:
--   p_queue  name of the queue
--   p_verb   name of the public function
--   p_args   its other arguments by name
-- Returns: what the function counts; null when it counts nothing.
-- Raises: WR001, WR002, WR003, WR004, WR005, WR006, WR012, WR014, WR015, WR017, WR060
-- Locks: those of the function.
create or replace function weir_internal.administer(p_queue text, p_verb text, p_args jsonb)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    a record;
begin
    select * into a
    from jsonb_to_record(p_args) as t (
        group_name text, ordered boolean, start text, max_attempts int, backoff_min interval, backoff_max interval,
        patience interval, concurrency_max int, rate_max int, rate_period interval, key_concurrency_max int,
        fair boolean, ids bigint[], new_name text,
        "position" text, id bigint, reason text, name text);
    case p_verb
    when 'create_group' then
        perform weir_internal.create_group(
            p_queue, a.group_name, a.ordered, a.start, a.max_attempts, a.backoff_min, a.backoff_max, a.patience,
            a.concurrency_max, a.rate_max, a.rate_period, a.key_concurrency_max, a.fair);
    when 'configure_group' then
        perform weir_internal.configure_group(
            p_queue, a.group_name, a.max_attempts, a.backoff_min, a.backoff_max, a.patience,
            a.concurrency_max, a.rate_max, a.rate_period, a.key_concurrency_max, a.fair);
    when 'drop_group' then
        perform weir_internal.drop_group(p_queue, a.group_name);
    when 'configure_queue' then
        perform weir_internal.configure_queue(p_queue, p_args);
    when 'drop_queue' then
        perform weir_internal.drop_queue(p_queue);
    when 'rename_queue' then
        perform weir_internal.rename_queue(p_queue, a.new_name);
    when 'pause' then
        perform weir_internal.set_paused(p_queue, a.group_name, true);
    when 'resume' then
        perform weir_internal.set_paused(p_queue, a.group_name, false);
    when 'purge' then
        return weir_internal.purge(p_queue, a.group_name);
    when 'seek' then
        perform weir_internal.seek(p_queue, a.group_name, a.position);
    when 'cancel' then
        return weir_internal.cancel(p_queue, a.id, a.reason);
    when 'schedule' then
        return weir_internal.schedule(p_queue, p_args);
    when 'unschedule', 'pause_schedule', 'resume_schedule' then
        return weir_internal.change_schedule(p_queue, p_verb, a.name);
    when 'redrive' then
        return weir_internal.redrive(p_queue, a.group_name, a.ids);
    when 'discard' then
        return weir_internal.discard(p_queue, a.group_name, a.ids);
    else
        raise exception 'queue "%" cannot be told to "%"', p_queue, p_verb
            using errcode = 'WR006', hint = 'Call the public functions of schema weir.';
    end case;
    return null;
end
$$;
