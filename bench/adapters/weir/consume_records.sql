-- Receives a batch in the form that programs use, one row a record, and acknowledges it in a transaction of its own.
-- One receive, one claim: \aset keeps that of the last row.
\set claim_id 0
select * from weir.receive_records('bench', max => :batch) \aset
\if :claim_id > 0
select weir.ack_all('bench', :claim_id);
\endif
