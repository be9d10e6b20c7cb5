-- Sends one message. :payload is the text of a jsonb.
insert into queue (payload) values (:payload::jsonb);
