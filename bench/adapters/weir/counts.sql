-- What the database says: messages sent, messages finished, messages received and not finished. Nothing is delivered
-- twice in these runs.
select sent, delivered - claimed as consumed, claimed from weir.stats('bench')
