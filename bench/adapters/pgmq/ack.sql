-- Finishes what was received. $1: the receipt.
select pgmq.delete('bench', $1::bigint)
