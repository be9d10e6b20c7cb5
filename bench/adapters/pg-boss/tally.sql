-- What the database says: messages sent, and messages finished.
select count(*) as sent, count(*) filter (where state = 'completed') as done from pgboss.job where name = 'bench'
