-- Finishes what was received. $1: the receipt.
select weir.ack('bench', $1)
