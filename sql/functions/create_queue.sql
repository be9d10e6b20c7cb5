-- weir.create_queue(queue_name, ordered, log, lanes, message_bytes_max, priorities, aging, ttl, dedup_window, ...)
-- Creates a queue and its group "default". A program may call it each time it starts: a queue that is there with the
-- settings that are given is left as it is.
--
-- Parameters: what is null, as if not given, is the default for a new queue and matches whatever is there
--   queue_name         1 to 47 of a-z, 0-9, _, - and .
--   ordered            whether the group "default" delivers one key's messages one after the other; false
--   log                the log that keeps its messages, made when it is not there; main
--   lanes              1 to 256: in so many parts its keys are shared out; 16
--   message_bytes_max  limit of a message's octets, 1 KiB to 64 MiB; 1 MiB: of its JSON text or bytes, and of
--                      its headers as stored
--   priorities         levels of priority of messages without keys, 1 to 8; 1
--   aging              how much longer a message must have waited to go before one of the next higher priority; 1
--   minute
--   ttl                what was sent longer ago is not delivered any more; 0 = delivered however old, the default
--   dedup_window       how long a dedup key counts, up to 10 years; 0 = this queue takes none; 5 minutes
--   backlog_max        how many messages its slowest group may be behind by before producers are told to wait (WR020);
--                      0 = no limit, the default
--   job_retention      how long what happened to tracked jobs is kept after they ended, 1 second to 10 years; 1 day
-- Returns: true when it was made, false when it was there.
-- Raises: WR002, WR005, WR006, WR019
-- Locks: the name: while another transaction that made a queue of this name is open, it waits.
create or replace function weir.create_queue(
    queue_name text,
    ordered boolean default null,
    log text default null,
    lanes int default null,
    message_bytes_max int default null,
    priorities int default null,
    aging interval default null,
    ttl interval default null,
    dedup_window interval default null,
    backlog_max bigint default null,
    job_retention interval default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    l weir_internal.logs;
    g weir_internal.groups;
begin
    perform weir_internal.check_name('queue', queue_name);
    loop
        select * into q from weir_internal.queues where name = queue_name;
        if found then
            perform weir_internal.check_same_queue(q, jsonb_strip_nulls(jsonb_build_object(
                'ordered', ordered, 'log', log, 'lanes', lanes, 'message_bytes_max', message_bytes_max,
                'priorities', priorities, 'aging', aging, 'ttl', ttl, 'dedup_window', dedup_window,
                'backlog_max', backlog_max, 'job_retention', job_retention)));
            return false;
        end if;
        q.name := queue_name;
        q.key_lanes := coalesce(lanes, 16);
        q.key_epochs := '{16}';
        q.keyed := false;
        q.priorities := coalesce(priorities, 1);
        q.message_bytes_max := coalesce(message_bytes_max, 1048576);
        q.aging := coalesce(aging, '1 minute');
        q.paused := false;
        q.ttl := coalesce(ttl, '0');
        q.dedup_window := nullif(coalesce(dedup_window, '5 minutes'), interval '0');
        q.backlog_max := nullif(backlog_max, 0);
        q.job_retention := coalesce(job_retention, '1 day');
        q.created_at := now();
        perform weir_internal.check_queue_settings(q);
        l := weir_internal.log_for(coalesce(log, 'main'));
        q.no := nextval('weir_internal.queue_numbers');
        q.log_no := l.no;
        q.origin := l.origin;
        q.waiting := format('%I.waiting_%s', l.schema_name, q.no % 64)::regclass;
        q.special := format('%I.special_%s', l.schema_name, q.no % 64)::regclass;
        insert into weir_internal.queues select q.* on conflict (name) do nothing; -- and no lock: they are few
        exit when found;
    end loop;
    if q.backlog_max is not null then
        q.backlog_sequence := weir_internal.start_backlog(q.no);
        update weir_internal.queues w set backlog_sequence = q.backlog_sequence where w.no = q.no;
    end if;
    g.name := 'default';
    g.ordered := coalesce(create_queue.ordered, false);
    g.max_attempts := 5;
    g.backoff_min := '1 second';
    g.backoff_max := '10 minutes';
    g.rate_period := '1 second';
    g.fair := false;
    perform weir_internal.add_group(q, g, 'start');
    return true;
end
$$;
