-- Receives one message as a row and acknowledges it in a transaction of its own.
\set claim_id 0
select * from weir.receive('bench') \aset
\if :claim_id > 0
select weir.ack_all('bench', :claim_id);
\endif
