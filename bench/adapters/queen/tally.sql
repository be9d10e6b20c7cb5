-- What the database says: messages sent, and messages that each group has finished, by the offsets of the partitions.
select (select coalesce(sum(last_offset + 1), 0)::bigint from queen.log_partitions) as sent,
    (select coalesce(sum(committed + 1), 0)::bigint from queen.log_consumers) as done
