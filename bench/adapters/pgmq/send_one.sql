-- Sends one message. :payload is the text of a jsonb.
select pgmq.send('bench', :payload::jsonb);
