-- Makes another queue. $1: its name.
select weir.create_queue($1)
