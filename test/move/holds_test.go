package move_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/test/surface"
)

// session is one whose statements must succeed.
type session struct {
	bench
	*pgx.Conn
}

func (b bench) session() session { return session{b, b.db.Conn(b)} }

func (s session) run(statements ...string) {
	s.Helper()
	for _, sql := range statements {
		if _, err := s.Exec(s.T.Context(), sql); err != nil {
			s.Fatalf("%s: %v", sql, err)
		}
	}
}

func (b bench) receive(n int, lease string) []surface.Message {
	b.Helper()
	got, err := surface.Receive(b.Context(), b.db.Pool(b), "q", "default", 10, lease)
	if err != nil || len(got) != n {
		b.Fatalf("received %v, %v, want %d", got, err, n)
	}
	return got
}

// maintain calls it twice: a step builds on what the one before has committed.
func (b bench) maintain() {
	b.Helper()
	for range 2 {
		if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestClaimsMadeBeforeTheMoveAreSettledAfterIt(t *testing.T) {
	each(t, "", func(b bench) {
		b.exec("select weir.send_batch('q', array_fill('1'::jsonb, array[8]))")
		claim := b.receive(8, "1 hour")
		id, of := surface.IDs(claim), claim[0].ClaimID
		b.move()
		b.maintain()
		b.want(8, "select claimed from weir.stats('q')")
		b.want(1, "select count(*) from weir.claims('q', 'default')")
		b.want(1, "select count(*) from weir.get('q', $1) where states ->> 'default' = 'claimed'", id[0])
		b.want(1, "select weir.ack('q', $1, $2::bigint)", of, id[0])
		b.want(0, "select weir.ack('q', $1, $2::bigint)", of, id[0])
		b.want(2, "select weir.ack('q', $1, $2::bigint[])", of, id[1:3])
		b.want(1, "select (weir.extend('q', $1, '2 hours') > now() + interval '1 hour')::int", of)
		b.want(1, "select weir.release('q', $1, $2)", of, id[3:4])
		b.want(1, "select weir.nack('q', $1, $2, '1 hour', 'no')", of, id[4:5])
		b.want(1, "select weir.reject('q', $1, $2, 'bad')", of, id[5:6])
		b.want(1, "select (weir.ack_many('q', array[$1::bigint], array[$2::int8multirange]))[1]",
			of, surface.Ranges(id[6:7]))
		b.fails("WR011", "select weir.ack('q', $1, 7::bigint)", of)
		b.fails("WR009", "select weir.ack('q', 1000000, 7::bigint)")
		b.want(1, "select weir.ack_all('q', $1)", of)
		again := b.receive(1, "1 hour") // what was released
		if again[0].ID != id[3] || again[0].Attempt != 1 {
			b.Errorf("received %v", again)
		}
		b.want(1, "select delayed from weir.stats('q')")
		b.want(1, "select dead from weir.stats('q')")
		b.maintain()
		b.wantLog("new from main")
		b.want(1, "select weir.ack_all('q', $1)", again[0].ClaimID)
		b.ends()
		b.want(1, "select count(*) from weir.delayed('q') where attempts = 1 and reason = 'no'")
		b.want(1, "select weir.redrive('q', 'default')")
		if got := b.receive(1, "1 hour"); got[0].ID != id[5] {
			b.Errorf("received %v", got)
		}
	})
}

func TestLeasesThatEndDuringTheMoveCountAsAttempts(t *testing.T) {
	each(t, "", func(b bench) {
		clock := surface.StoppedClock(b, b.db)
		b.exec("select weir.send('q', '\"a\"')")
		b.receive(1, "1 second")
		b.move()
		b.exec("select weir.send('q', '\"b\"')")
		clock.Advance(b, 2e9)
		got := b.receive(1, "1 second")
		if got[0].Attempt != 2 || got[0].Payload != `"a"` {
			b.Errorf("received %v", got)
		}
		b.want(1, "select weir.ack_all('q', $1)", got[0].ClaimID)
		b.wantPop("default", "b")
		b.ends()
	})
}

func TestWhatIsDelayedMovesAlong(t *testing.T) {
	each(t, "", func(b bench) {
		clock := surface.StoppedClock(b, b.db)
		b.exec("select weir.create_group('q', 'other')")
		b.exec("select weir.send('q', '\"old\"', delay => '1 hour')")
		b.exec("select weir.purge('q', 'other')")
		b.exec("select weir.send('q', '\"both\"', delay => '2 hours')")
		b.move()
		b.exec("select weir.send('q', '\"new\"', delay => '90 minutes')")
		b.want(3, "select delayed from weir.stats('q') where group_name = 'default'")
		b.want(3, "select count(*) from weir.delayed('q')")
		b.ends()
		b.want(3, "select delayed from weir.stats('q') where group_name = 'default'")
		b.want(2, "select delayed from weir.stats('q') where group_name = 'other'")
		clock.Advance(b, 3*3600*1e9)
		b.wantPop("default", "old", "new", "both")
		b.wantPop("other", "new", "both")
	})
}

// A group claims what is due where it is, also when it is due while the queue moves.
func TestWhatBecomesDueDuringTheMoveIsDelivered(t *testing.T) {
	each(t, "", func(b bench) {
		clock := surface.StoppedClock(b, b.db)
		b.exec("select weir.send('q', '\"due\"', delay => '1 second')")
		b.move()
		clock.Advance(b, 2e9)
		b.maintain()
		b.wantLog("new from main")
		b.exec("select weir.send('q', '\"new\"')")
		b.wantPop("default", "due", "new")
		b.ends()
	})
}

func TestAnOrderedGroupFinishesTheOldLogFirst(t *testing.T) {
	each(t, "ordered => true", func(b bench) {
		b.exec("select weir.send('q', '\"1\"', 'a'), weir.send('q', '\"2\"', 'a'), weir.send('q', '\"3\"', 'b')")
		claim := b.receive(3, "1 hour")
		b.move()
		b.exec("select weir.send('q', '\"4\"', 'a'), weir.send('q', '\"5\"', 'b'), weir.send('q', '\"6\"', 'c')")
		b.receive(0, "1 hour")
		for _, m := range claim { // 1 comes again, before 2
			switch m.Payload {
			case `"1"`:
				b.want(2, "select weir.nack('q', $1, $2, '0')", m.ClaimID, []int64{m.ID, m.ID + 1000})
			case `"3"`:
				b.want(1, "select weir.ack('q', $1, $2::bigint)", m.ClaimID, m.ID)
			}
		}
		b.want(5, "select waiting + parked + claimed from weir.stats('q')")
		got := b.pop("default")
		if !slices.Equal(without(got, "5", "6"), []string{"1", "2", "4"}) || len(got) != 5 || got[1] != "2" {
			b.Errorf("received %v", got)
		}
		b.ends()
	})
}

// A receive was sent to the log that the queue was in or was leaving, and is held up until the queue moves back to it.
func TestAReceiveThatWasHeldUpOnItsWayWaitsForTheOldLog(t *testing.T) {
	each(t, "ordered => true", func(b bench) {
		b.exec("select weir.send('q', '\"1\"', 'a')")
		b.move()
		b.exec("select weir.send('q', '\"2\"', 'a')")
		held := "select count(*) from unnest(weir_log_new.receive('q', 'default', 5, '1 hour'))"
		b.want(0, held)
		b.wantPop("default", "1", "2")
		b.ends()
		b.want(0, held)
		b.exec("select weir.send('q', '\"3\"', 'a')")
		b.want(1, held)
	})
}

func without(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// A sender commits late, after the group has gone on to the new log: what it sent comes, before what was sent later.
func TestASenderThatCommitsLateLosesNothing(t *testing.T) {
	for _, options := range []string{"", "ordered => true"} {
		t.Run(options, func(t *testing.T) { commitLate(t, options) })
	}
}

func commitLate(t *testing.T, options string) {
	each(t, options, func(b bench) {
		held, gone, fixed := b.session(), b.session(), b.session()
		held.run("begin", "select weir.send('q', '\"held\"', 'k')",
			"select weir.send('q', '\"held delayed\"', delay => '1 hour')")
		gone.run("begin", "select weir.send('q', '\"gone\"', 'k')")
		fixed.run("begin isolation level repeatable read", "select count(*) from weir_internal.queues")
		b.move()
		b.exec("select weir.send('q', '\"1\"', 'k')")
		b.wantPop("default", "1")
		surface.Settle(b, b.db.Pool(b))
		b.wantLog("new from main")
		fixed.run("select weir.send('q', '\"fixed\"', 'k')", "commit")
		surface.Settle(b, b.db.Pool(b))
		b.wantLog("new from main")
		held.run("select weir.send('q', '\"after\"', 'k')", "commit")
		b.exec("select weir.send('q', '\"2\"', 'k')")
		gone.run("rollback")
		got := b.pop("default")
		slices.Sort(got[:2])
		if !slices.Equal(got, []string{"fixed", "held", "after", "2"}) {
			b.Errorf("received %v", got)
		}
		b.ends()
		b.want(1, "select count(*) from weir.delayed('q')")
	})
}

// Whoever holds a transaction open that has nothing to do with the log does not keep the move from its end.
func TestAnOpenTransactionElsewhereDoesNotKeepTheMove(t *testing.T) {
	each(t, "", func(b bench) {
		surface.CreateQueue(b, b.db.Pool(b), "other", "log => 'third'")
		held := b.session()
		b.exec("create table mine (n int)")
		held.run("begin", "insert into mine values (1)", "select weir.send('other', '1')")
		b.move()
		b.ends()
		held.run("commit")
	})
}

// A session of another role, of which the engine's owner may see little, keeps the move as its own would.
func TestAGranteeWithAnOldSnapshotKeepsTheMove(t *testing.T) {
	each(t, "", func(b bench) {
		role := b.db.Role(b)
		b.exec("select weir.grant_produce('q', '" + role + "')")
		conn := b.db.As(b, role)
		run := func(sql string) {
			b.Helper()
			if _, err := conn.Exec(b.Context(), sql); err != nil {
				b.Fatalf("%s: %v", sql, err)
			}
		}
		run("begin isolation level repeatable read")
		run("select count(*) from pg_class")
		b.move()
		surface.Settle(b, b.db.Pool(b))
		b.wantLog("new from main")
		_, err := conn.Exec(b.Context(), "select weir.send('q', '1')") // by the new gate, and the old row of the queue
		surface.WantState(b, err, "WR001")
		run("rollback")
		run("select weir.send('q', '\"new\"')")
		b.wantPop("default", "new")
		b.ends()
	})
}
