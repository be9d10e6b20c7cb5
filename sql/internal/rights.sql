-- weir_internal.rights()
-- What each right on a queue consists of: EXECUTE on some gates of the queue, the first of which is the right itself
-- (whoever may execute it is given the others by the next install), and on the shared functions that call them. A gate
-- is made of the function of the same name in the queue's log, or in weir_internal, whose first argument is the queue's
-- name. All else in schema weir (creating queues, bindings, granting) is for the role that installed Weir, and for
-- those to whom it grants EXECUTE by hand.
--
-- Returns: one row a right: its name, the gates, and the shared functions.
-- Raises: none
-- Locks: none
create or replace function weir_internal.rights()
returns table (right_name text, gates text[], functions text[])
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    values
    ('produce',
        array['send', 'send_batch', 'send_once', 'enqueue', 'job', 'start_workflow', 'workflow'],
        array['weir.send', 'weir.send_batch', 'weir.send_once', 'weir.publish', 'weir.publish_batch', 'weir.route',
            'weir.version', 'weir.enqueue', 'weir.enqueue_batch', 'weir.job', 'weir_internal.read_jobs',
            'weir.start_workflow', 'weir.start_chain', 'weir.start_batch', 'weir.workflow',
            'weir_internal.gate', 'weir_internal.fail_gate', 'weir_internal.direct', 'weir_internal.in_main',
            'weir_internal.call']),
    ('consume',
        array['receive', 'ack', 'ack_ids', 'ack_all', 'nack', 'reject', 'extend', 'release', 'receive_many', 'ack_many',
            'extend_many', 'settle_many', 'mark_waiting', 'finish', 'progress', 'snooze', 'cancelled', 'job',
            'workflow', 'describe', 'groups', 'schedules', 'workflows', 'stats', 'examine', 'peek', 'get', 'claims',
            'parked_keys', 'delayed', 'dead_letters', 'list_jobs'],
        array['weir.receive', 'weir.receive_records', 'weir.pop', 'weir.pop_records', 'weir.ack', 'weir.ack_all',
            'weir.ack_and_receive', 'weir.nack', 'weir.reject', 'weir.extend', 'weir.release', 'weir.receive_many',
            'weir.ack_many', 'weir.extend_many', 'weir.settle_many', 'weir.mark_waiting', 'weir.finish',
            'weir.finish_many', 'weir.progress', 'weir.snooze', 'weir.cancelled', 'weir.job', 'weir.workflow',
            'weir.maintain', 'weir.maintain_step', 'weir.maintenance', 'weir.version', 'weir.list_queues',
            'weir.list_groups', 'weir.list_schedules', 'weir.fire_schedules',
            'weir.next_times', 'weir.stats', 'weir.doctor', 'weir.peek', 'weir.peek_records', 'weir.get',
            'weir.get_many', 'weir.claims', 'weir.parked_keys', 'weir.delayed', 'weir.list_workflows',
            'weir.dead_letters', 'weir.list_jobs',
            'weir_internal.gate', 'weir_internal.fail_gate', 'weir_internal.direct', 'weir_internal.in_main',
            'weir_internal.call', 'weir_internal.visible_queues', 'weir_internal.was_dropped',
            'weir_internal.jsonb_of']),
    ('admin',
        array['administer', 'job', 'workflow', 'describe', 'groups', 'schedules', 'workflows', 'stats', 'examine',
            'peek', 'get', 'claims', 'parked_keys', 'delayed', 'dead_letters', 'list_jobs'],
        array['weir.create_group', 'weir.configure_group', 'weir.drop_group', 'weir.configure_queue',
            'weir.drop_queue', 'weir.rename_queue', 'weir.move_queue', 'weir.pause', 'weir.resume', 'weir.purge',
            'weir.seek',
            'weir.redrive', 'weir.discard', 'weir.cancel', 'weir.job', 'weir.workflow', 'weir.schedule',
            'weir.unschedule', 'weir.pause_schedule', 'weir.resume_schedule', 'weir_internal.queue_of_schedule',
            'weir.maintain', 'weir.maintain_step', 'weir.maintenance', 'weir.version',
            'weir.list_queues', 'weir.list_groups', 'weir.list_schedules', 'weir.fire_schedules', 'weir.next_times',
            'weir.stats', 'weir.doctor', 'weir.peek', 'weir.peek_records', 'weir.get', 'weir.get_many', 'weir.claims',
            'weir.parked_keys', 'weir.delayed', 'weir.list_workflows', 'weir.dead_letters', 'weir.list_jobs',
            'weir_internal.gate', 'weir_internal.fail_gate', 'weir_internal.direct', 'weir_internal.in_main',
            'weir_internal.call', 'weir_internal.visible_queues', 'weir_internal.was_dropped',
            'weir_internal.ask_admin', 'weir_internal.examine_database', 'weir_internal.jsonb_of'])
$$;
