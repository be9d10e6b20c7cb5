-- Receives a batch in the form that programs use, one row a record, and acknowledges it in a transaction of its own.
-- Batches were sent as long as they are received, so a receive that finds something returns one claim.
\set claim_id 0
select * from weir.receive_records('bench', max => :batch) \aset
\if :claim_id > 0
select weir.ack('bench', :claim_id);
\endif
