-- Finishes what was received. $1: the receipt.
select weir.ack_all('bench', $1)
