-- weir.create_queue(queue_name, lanes, message_bytes_max, segment_bytes, claims_bytes, priorities, aging, ttl, ...)
-- Creates a queue and its group "default".
--
-- Parameters:
--   queue_name         1 to 47 of a-z, 0-9, _, - and .
--   lanes              1 to 256: how many consumers can claim at the same moment; 1 is a total order
--   message_bytes_max  limit of a message's payload plus headers, octets as stored, 1 KiB to 64 MiB
--   segment_bytes      size at which a segment of the log is closed, 64 KiB or more
--   claims_bytes       size at which a table of the claim log is left, 64 KiB or more
--   priorities         levels of priority, 1 to 8, each with so many lanes; lanes times priorities is 256 at most
--   aging              how much longer a message must have waited to go before one of the next higher priority
--   ttl                what was sent longer ago is not delivered any more; 0 = delivered however old
--   retention          how long what all groups have finished is kept at least, so that a group can seek back to it
--   dedup_window       how long a dedup key counts, up to 10 years; null = this queue takes none, and needs two tables
--                      less
--   backlog_max        how many messages its slowest group may be behind by before producers are told to wait (WR020);
--                      null or 0 = no limit
--   job_retention      how long what happened to tracked jobs is kept after they ended, 1 second to 10 years
-- Returns: nothing.
-- Raises: WR002, WR005, WR006
-- Locks: an advisory lock that makes one create_queue or drop_queue wait for another, until the transaction ends.
create or replace function weir.create_queue(
    queue_name text,
    lanes int default 16,
    message_bytes_max int default 1048576,
    segment_bytes bigint default 67108864,
    claims_bytes bigint default 16777216,
    priorities int default 1,
    aging interval default '1 minute',
    ttl interval default '0',
    retention interval default '0',
    dedup_window interval default '5 minutes',
    backlog_max bigint default null,
    job_retention interval default '1 day')
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
begin
    perform weir_internal.check_name('queue', queue_name);
    q.name := queue_name;
    q.lanes := least(lanes::bigint * greatest(priorities, 1), 2147483647);
    q.priorities := priorities;
    q.message_bytes_max := message_bytes_max;
    q.segment_bytes := segment_bytes;
    q.claims_bytes := claims_bytes;
    q.aging := aging;
    q.ttl := ttl;
    q.retention := retention;
    q.dedup_window := dedup_window;
    q.backlog_max := nullif(backlog_max, 0);
    q.job_retention := job_retention;
    perform weir_internal.check_queue_settings(q);
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    if exists (select from weir_internal.queues where name = queue_name) then
        raise exception 'queue "%" exists', queue_name
            using errcode = 'WR002', hint = 'Choose another name, or use the queue that is there.';
    end if;
    insert into weir_internal.queues
        (no, name, lanes, priorities, message_bytes_max, segment_bytes, claims_bytes, aging, ttl, retention, birth,
         dedup_window, backlog_max, job_retention)
    select coalesce((select min(s.no) from (select 1 as no union all select w.no + 1 from weir_internal.queues w) s
                     where not exists (select from weir_internal.queues w where w.no = s.no)), 1),
        q.name, q.lanes, q.priorities, q.message_bytes_max, q.segment_bytes, q.claims_bytes, q.aging, q.ttl,
        q.retention, '{}', q.dedup_window, q.backlog_max, q.job_retention
    returning * into q;
    perform weir_internal.create_queue_tables(q);
    update weir_internal.queues w set birth = weir_internal.birth_of(w.no) where w.no = q.no returning * into q;
    perform weir_internal.generate_queue_functions(q);
    perform weir_internal.create_group(queue_name, 'default');
end
$$;
