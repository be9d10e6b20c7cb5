-- weir_internal.start_dedup(q)
-- Creates what a queue with a dedup window needs, where it is not there, and sets the ring so that what is in either
-- table counts; see the template remember.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: none; the caller keeps everybody else from the tables.
create or replace function weir_internal.start_dedup(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
begin
    for k in 0 .. 1 loop
        execute format(
            'create table if not exists weir_internal.q%s_dedup_%s (
                 key uuid primary key,   -- digest_of the key, or job_digest
                 id bigint not null,     -- the message that was first
                 at timestamptz not null, -- when it was sent; of a unique job: until when the key counts
                 txid xid8               -- of a unique job: the transaction that sent it; of a dedup key null
             ) with (autovacuum_enabled = false)', q.no, k);
    end loop;
    execute format('create sequence if not exists weir_internal.q%s_dedup_ring minvalue 0', q.no);
    perform setval(format('weir_internal.q%s_dedup_ring', q.no),
        weir_internal.to_micros(weir_internal.clock()) * 6 + 1);
end
$$;
