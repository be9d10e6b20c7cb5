-- Sends one message. :payload is the text of a jsonb.
select weir.send('bench', :payload);
