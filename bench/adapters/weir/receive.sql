-- Receives as rows. $1: at most so many.
select claim_id as receipt, payload from weir.receive('bench', max => $1)
