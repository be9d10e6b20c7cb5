package interleave_test

// programs are what sessions do that can harm each other. Behind each: how many orders there are.
var programs = []program{
	{
		"senders and a reader", true, "",
		[]string{"begin, send A a, send B a, commit", "begin, send A a, commit", "receive A 10, ack A, receive A 10"},
	}, // 4,200
	{
		"senders and a reader of any order", false, "",
		[]string{"begin, send A, send B, rollback", "begin, send A, commit", "receive A 10, ack A, receive A 10"},
	}, // 4,200
	{
		"nack and expiry", true, "send A a, send A a, send A b",
		[]string{"receive A 1, nack A, receive A 10, ack A", "receive A 1, pass, receive A 10, ack A"},
	}, // 70
	{
		"nack and expiry in any order", false, "send A a, send A a, send A",
		[]string{"receive A 1, nack A, receive A 10, ack A", "receive A 1, pass, receive A 10, ack A"},
	}, // 70
	{
		"receives that are held open", true, "send A a, send A a, send A b",
		[]string{
			"begin, receive A 1, ack A, rollback, receive A 10",
			"begin, receive A 1, nack A, commit, receive A 10, ack A",
		},
	}, // 462
	{
		"receives that are held open in any order", false, "send A a, send A a, send A",
		[]string{
			"begin, receive A 1, ack A, rollback, receive A 10",
			"begin, receive A 1, nack A, commit, receive A 10, ack A",
		},
	}, // 462
	{
		"acks that are held open past the lease", true, "send A a, send A a, send A b",
		[]string{"receive A 10, begin, ack A, commit", "pass, receive A 10, ack A", "receive A 10, release A"},
	}, // 1,260
	{
		"an extension that is held open", false, "send A a, send A a, send A b",
		[]string{"receive A 10, begin, extend A, rollback, ack A", "pass, receive A 10, ack A"},
	}, // 56
	{
		"delayed messages among others", true, "send A a",
		[]string{"later A a, pass, receive A 10, ack A", "send A a, receive A 1, nack A, receive A 10, release A"},
	}, // 126
	{
		"a key's delayed message and its next while one is worked at", true, "send A a, later A a",
		[]string{"begin, receive A 1, commit, ack A", "pass, send A a, receive A 10, ack A", "receive A 10"},
	}, // 630
	{
		"cancellation", true, "send A a, send A a",
		[]string{"begin, receive A 10, ack A, rollback", "cancel A, receive A 10, ack A", "receive A 1, nack A"},
	}, // 1,260
	{
		"lanes that change under a sender", true, "",
		[]string{
			"begin, send A a, send A a, commit", "lanes A 2, lanes A 3, send A a", "receive A 1, ack A, receive A 1",
		},
	}, // 4,200
	{
		"lanes that change under a reader", true, "send A a, send A b, later A b",
		[]string{"begin, receive A 1, ack A, rollback", "lanes A 2, send A a, pass", "receive A 10, nack A, receive A 10"},
	}, // 4,200
	{
		"lanes that go while somebody sends", true, "send A a",
		[]string{
			"begin, send A a, commit", "lanes A 2, step trim key epochs, step trim key epochs",
			"receive A 10, ack A, receive A 10, ack A",
		},
	}, // 4,200
	{
		"segments that turn", true, "send A a, send B",
		[]string{
			"receive A 10, send A b, receive A 10, ack A",
			"step open segment, step seal segments, step move remainders, step empty segments, step trim rest",
		},
	}, // 126
	{
		"segments that turn under a sender and a reader", false, "send A",
		[]string{
			"begin, send A, send B, commit", "receive A 10, ack A",
			"step open segment, step seal segments, step move remainders, step empty segments",
		},
	}, // 3,150
	{
		"a step of maintenance that is held open", true, "send A a, send A b, step open segment, step seal segments",
		[]string{
			"receive A 1, nack A, send A a, receive A 10, ack A",
			"begin, step move remainders, commit, begin, step empty segments, rollback, step empty segments",
		},
	}, // 792
	{
		"a claim log that turns", true, "send A a, send A a, send B a",
		[]string{
			"begin, receive A 1, commit, ack A, receive A 10",
			"step rotate claims, step rotate claims, step rotate claims, step rotate claims",
		},
	}, // 126
	{
		"a claim log that turns under an open step", false, "send A, send A, send B",
		[]string{
			"receive A 1, nack A, receive A 10, ack A",
			"begin, step rotate claims, commit, step rotate claims, begin, step rotate claims, rollback",
		},
	}, // 330
	{
		"expiry while the claim log turns", true, "send A a, send A b",
		[]string{
			"receive A 1, pass, ack A, receive A 10",
			"step rotate claims, step rotate claims, step rotate claims", "receive A 10, release A",
		},
	}, // 1,260
}
