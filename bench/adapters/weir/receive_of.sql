-- Receives for a group, in the form that programs use. $1: at most so many messages. $2: the group.
select claim_id, payloads from weir.receive_records('bench', $2, max => $1)
