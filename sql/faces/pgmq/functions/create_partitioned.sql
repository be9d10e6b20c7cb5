-- pgmq.create_partitioned(queue_name, partition_interval, retention_interval, premake),
-- pgmq.convert_archive_partitioned(table_name, partition_interval, retention_interval, leading_partition)
-- create_partitioned: creates a queue as any other, without pg_partman: space is given back without partitions. What
-- was deleted is gone at once, and what was not is kept however old it is. convert_archive_partitioned: leaves an
-- archive the table that it is.
--
-- Parameters:
--   queue_name          up to 47 characters
--   partition_interval  not used
--   retention_interval  not used
--   premake             1 or more; not used
--   table_name          the queue of an archive
--   leading_partition   not used
-- Returns: nothing; convert_archive_partitioned tells by a WARNING that it does nothing, or by PGMQ's NOTICE that there
-- is no such archive.
-- Raises: P0001
-- Locks: as pgmq.create.
create or replace function pgmq.create_partitioned(
    queue_name text, partition_interval text default '10000', retention_interval text default '100000',
    premake integer default 4)
returns void
language plpgsql
as $$
begin
    if premake < 1 then
        raise exception 'premake must be at least 1, got %', premake
            using errcode = 'P0001', hint = 'Leave it out: it is not used.';
    end if;
    perform pgmq._open_queue(queue_name, true, false);
end
$$;
create or replace function pgmq.convert_archive_partitioned(
    table_name text, partition_interval text default '10000', retention_interval text default '100000',
    leading_partition int default 10)
returns void
language plpgsql
as $$
declare
    v_archive text := pgmq.format_table_name(table_name, 'a');
begin
    if to_regclass(format('pgmq.%I', v_archive)) is null then
        raise notice 'Table %s does not exists', v_archive;
    else
        raise warning 'archive % stays one table: partitions are not needed to give space back', v_archive;
    end if;
end
$$;
