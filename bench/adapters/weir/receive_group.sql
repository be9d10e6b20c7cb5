-- Receives a batch in the form that programs use. $1: the group. $2: at most so many.
select claim_id as receipt, n, payloads from weir.receive_records('bench', $1, max => $2)
