-- Receives in the form that programs use, one row a record. $1: at most so many.
select claim_id, payloads from weir.receive_records('bench', max => $1)
