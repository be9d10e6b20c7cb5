-- The index that PGMQ recommends for reading by key.
select pgmq.create_fifo_index('bench')
