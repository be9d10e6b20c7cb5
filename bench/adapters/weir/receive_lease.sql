-- Receives with a lease. $1: at most so many messages. $2: seconds.
select claim_id, payloads from weir.receive_records('bench', max => $1, lease => make_interval(secs => $2::int))
