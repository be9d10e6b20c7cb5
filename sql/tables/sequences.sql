-- weir_internal.record_numbers, claim_numbers, queue_numbers, group_numbers, maintained_at
-- Numbers of this database. None is given out twice, whatever is dropped and made anew.
create sequence if not exists weir_internal.record_numbers; -- message ids: see weir_internal.next_ids
create sequence if not exists weir_internal.claim_numbers;  -- claims and cursors
create sequence if not exists weir_internal.queue_numbers;
create sequence if not exists weir_internal.group_numbers;
create sequence if not exists weir_internal.log_numbers;
-- When a call of maintain last began, in microseconds since 1970. A sequence, not a column: everybody sees it at once,
-- and it leaves no dead rows.
create sequence if not exists weir_internal.maintained_at minvalue 0;
