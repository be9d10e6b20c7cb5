-- What a server does once a second, and again at once until it returns 0.
call weir.maintain()
