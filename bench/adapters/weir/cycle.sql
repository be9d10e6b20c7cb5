-- Sends a batch, receives one in the form that programs use and acknowledges it: three transactions.
select weir.send_batch('bench', :payloads);
\set claim_id 0
select * from weir.receive_records('bench', max => :batch) \aset
\if :claim_id > 0
select weir.ack_all('bench', :claim_id);
\endif
