-- Makes the group that is delivered each key's messages in order.
select weir.create_group('bench', 'in-order', ordered => true)
