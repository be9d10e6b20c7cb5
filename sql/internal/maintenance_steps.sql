-- weir_internal.maintenance_steps()
-- What weir.maintain does, in this order, each in a transaction of its own. A step does a bounded amount of work and
-- holds nothing that others wait for once it has returned and its transaction has ended; it may build only on what is
-- committed.
--
-- Returns: one row a step: its name; whether there is one for each log; the call, an expression that yields how much
-- was done. {log} stands for the log's schema, l for its row.
-- Raises: none
-- Locks: none
create or replace function weir_internal.maintenance_steps()
returns table (step_name text, per_log boolean, call text)
language sql immutable
as $$
    values
    ('open segment', true, '{log}.open_segment(l.segment_bytes)'),
    ('seal segments', true, '{log}.seal_segments()'),
    ('move remainders', true, '{log}.move_remainders(l.segment_bytes / 8, l.retention)'),
    ('empty segments', true, '{log}.empty_segments()'),
    ('trim rest', true, '{log}.trim_rest()'),
    ('rotate claims', true, '{log}.rotate_claims(l.claims_bytes)'),
    ('trim delayed', true, '{log}.trim_delayed()'),
    ('trim parked', true, '{log}.trim_parked()'),
    ('trim key queues', true, '{log}.trim_key_queues()'),
    ('rotate dedup keys', true, '{log}.rotate_dedup()'),
    ('rotate job events', true, '{log}.rotate_jobs()'),
    ('trim cancellations', true, '{log}.trim_cancellations()'),
    ('fold keyed queues', false, 'weir_internal.fold_keyed_queues()'),
    ('move queues', false, 'weir_internal.continue_moves()'),
    ('trim key epochs', true, '{log}.trim_key_epochs()'),
    ('clear special marks', true, '{log}.clear_special()'),
    ('fire schedules', false, 'weir.fire_schedules()')
$$;
