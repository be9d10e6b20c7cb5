-- Receives in the form that programs use, one row a record, by the queue's own function. $1: at most so many.
-- docs/tasks/batches.md#calling-a-queues-own-functions-for-drivers
select claim_id, payloads from unnest(weir_internal."receive:bench"('default', $1, '30 seconds'))
