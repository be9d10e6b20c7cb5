-- weir_internal.administer(p_queue, p_verb, p_args), weir_internal.ask_admin(p_queue, p_verb, p_args)
-- administer: what the right to administer a queue is the right to do. ask_admin: the public functions of the same
-- names come here through it, and of those who are not the owner's through the queue's gate, so that the right is one a
-- queue.
--
-- Parameters:
--   p_queue  name of the queue
--   p_verb   name of the public function
--   p_args   its other arguments by name
-- Returns: what the function counts; of cancel the state, 0 ended, 1 cancelled, 2 running; of schedule the next due
-- time in microseconds; null when it counts nothing.
-- Raises: WR001, WR002, WR003, WR004, WR005, WR006, WR007, WR008, WR012, WR017, WR018, WR019, WR050, WR052, WR054,
-- WR060; 42501
-- Locks: those of the function.
create or replace function weir_internal.administer(p_queue text, p_verb text, p_args jsonb)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    a record;
    v_log text;
    v_count bigint;
begin
    select * into a
    from jsonb_to_record(p_args) as t (
        group_name text, ids bigint[], new_name text, "position" text, id bigint, reason text, name text,
        log_name text);
    select case when q.moving_from is not null and p_verb in ('purge', 'seek', 'cancel') then 'weir_internal.moving_'
                else quote_ident(l.schema_name) || '.' end into v_log
    from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no where q.name = p_queue;
    if not found then
        perform weir_internal.fail_unknown(p_queue);
    end if;
    case p_verb
    when 'create_group' then
        perform weir_internal.create_group(p_queue, p_args);
    when 'configure_group' then
        execute format('select %sconfigure_group($1, $2, $3)', v_log) using p_queue, a.group_name, p_args;
    when 'drop_group' then
        execute format('select %sdrop_group($1, $2)', v_log) using p_queue, a.group_name;
    when 'configure_queue' then
        execute format('select %sconfigure_queue($1, $2)', v_log) using p_queue, p_args;
    when 'drop_queue' then
        perform weir_internal.drop_queue(p_queue);
    when 'move_queue' then
        perform weir_internal.move_queue(p_queue, a.log_name);
    when 'rename_queue' then
        perform weir_internal.rename_queue(p_queue, a.new_name);
    when 'pause', 'resume' then
        perform weir_internal.set_paused(p_queue, a.group_name, p_verb = 'pause');
    when 'purge' then
        execute format('select %spurge($1, $2)', v_log) into v_count using p_queue, a.group_name;
    when 'seek' then
        execute format('select %sseek($1, $2, $3)', v_log) using p_queue, a.group_name, a.position;
    when 'cancel' then
        execute format('select array_position(array[''ended'', ''cancelled'', ''running''], %scancel($1, $2, $3)) - 1',
            v_log) into v_count using p_queue, a.id, a.reason;
    when 'schedule' then
        v_count := weir_internal.schedule(p_queue, p_args);
    when 'unschedule', 'pause_schedule', 'resume_schedule' then
        v_count := weir_internal.change_schedule(p_queue, p_verb, a.name);
    when 'redrive' then
        execute format('select %sredrive($1, $2, $3)', v_log) into v_count using p_queue, a.group_name, a.ids;
    when 'discard' then
        v_count := weir_internal.discard(p_queue, a.group_name, a.ids);
    else
        raise exception 'queue "%" cannot be told to "%"', p_queue, p_verb
            using errcode = 'WR006', hint = 'Call the public functions of schema weir.';
    end case;
    return v_count;
end
$$;
create or replace function weir_internal.ask_admin(p_queue text, p_verb text, p_args jsonb)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_count bigint;
begin
    if has_schema_privilege('weir_log', 'usage') then
        return weir_internal.administer(p_queue, p_verb, p_args);
    end if;
    execute 'select ' || weir_internal.gate('administer', p_queue) || '($1, $2)' into v_count using p_verb, p_args;
    return v_count;
end
$$;
