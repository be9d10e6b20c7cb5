-- Receives for the ordered group. $1: at most so many messages.
select claim_id, payloads from weir.receive_records('bench', 'in-order', max => $1)
