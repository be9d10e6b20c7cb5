-- Makes a group that is delivered all that was sent. $1: its name. $2: whether it is ordered.
select weir.create_group('bench', $1, ordered => $2)
