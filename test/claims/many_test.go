package claims_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// share is what one consumer got of a receive_many.
type share struct {
	claims   []int64
	ids      []int64
	payloads []string
	attempts []int
}

// receiveMany receives for several consumers and returns what each got, by its number from 0.
func (b bench) receiveMany(maxes []int, leases []string) []share {
	b.Helper()
	rows, err := b.db.Pool(b).Query(b.Context(),
		`select (messages).n, (messages).first_id, (messages).ids, (messages).payloads::text[], (messages).attempt,
		     (messages).attempts, requests, claim_ids, counts
		 from weir.receive_many($1, $2, $3, $4::text[]::interval[])`, queue, group, maxes, leases)
	if err != nil {
		b.Fatal(err)
	}
	shares := make([]share, len(maxes))
	var n, attempt int
	var first int64
	var ids, claims []int64
	var payloads []string
	var attempts, requests, counts []int
	_, err = pgx.ForEachRow(rows, []any{&n, &first, &ids, &payloads, &attempt, &attempts, &requests, &claims, &counts},
		func() error {
			at := 0
			for part, request := range requests {
				s := &shares[request-1]
				if !slices.Contains(s.claims, claims[part]) {
					s.claims = append(s.claims, claims[part])
				}
				for range counts[part] {
					id, try := first+int64(at), attempt
					if ids != nil {
						id = ids[at]
					}
					if attempts != nil {
						try = attempts[at]
					}
					s.ids, s.payloads, s.attempts = append(s.ids, id), append(s.payloads, payloads[at]), append(s.attempts, try)
					at++
				}
			}
			if at != n {
				b.Errorf("%d of a record's %d messages were handed out", at, n)
			}
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
	return shares
}

// ackMany returns what ack_many says; -1 stands for null. Ids nil: all that are left of the claims.
func (b bench) ackMany(claims []int64, ids []*string, requests []int) []int {
	b.Helper()
	if ids == nil {
		ids = make([]*string, len(claims))
		for i := range ids {
			ids[i] = surface.Text("{(,)}")
		}
	}
	return pgtest.QueryVal[[]int](b.T, b.db,
		`select array(select coalesce(n, -1)
		              from unnest(weir.ack_many($1, $2, $3::text[]::int8multirange[], $4)) with ordinality u (n, i)
		              order by i)`,
		queue, claims, ids, requests)
}

func TestEachConsumerOfOneCallHoldsItsShareForItsOwnTime(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(4)
		batch, err := surface.SendBatch(b.Context(), b.db.Pool(b), queue, []string{"5", "6", "7", "8"}, nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, batch...)
		got := b.receiveMany([]int{1, 3, 2, 5}, []string{"1 minute", "1 hour", "1 minute", "3 minutes"})
		for i, want := range [][]int64{ids[:1], ids[1:4], ids[4:6], ids[6:]} {
			if !slices.Equal(got[i].ids, want) || len(got[i].claims) != 1 {
				b.Fatalf("consumer %d got %+v, want the messages %v under one claim", i, got[i], want)
			}
		}
		if !slices.Equal(got[2].payloads, []string{"5", "6"}) {
			b.Errorf("consumer 2 got %v", got[2].payloads)
		}
		b.wantNothing()
		b.clock.Advance(b, 2*time.Minute)
		again := b.receiveMany([]int{10}, []string{"1 hour"})[0]
		slices.Sort(again.ids)
		if !slices.Equal(again.ids, []int64{ids[0], ids[4], ids[5]}) || slices.Min(again.attempts) != 2 {
			b.Errorf("two minutes later %+v came back", again)
		}
		_, err = surface.Ack(b.Context(), b.db.Pool(b), queue, got[0].claims[0], nil)
		surface.WantState(b, err, "WR010")
		b.wantCount(3)(surface.Ack(b.Context(), b.db.Pool(b), queue, got[1].claims[0], nil))
		if _, err := surface.Extend(b.Context(), b.db.Pool(b), queue, got[3].claims[0], "1 hour"); err != nil {
			b.Error(err)
		}
		b.clock.Advance(b, 50*time.Minute)
		b.wantNothing()
		b.wantCount(2)(surface.Nack(b.Context(), b.db.Pool(b), queue, got[3].claims[0], nil, surface.Text("0")))
		b.wantIDs(b.receive(b.db.Pool(b), 10, "1 minute"), 2, ids[6:]...)
	})
}

func TestAShareOutlivesTheSegmentItCameFrom(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b.T, "select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536)")
		ids := b.send(3)
		got := b.receiveMany([]int{1, 1, 1}, []string{"1 day", "1 day", "1 day"})
		for range 6 {
			b.send(1)
			claim, _ := b.claim(1, "1 minute")
			b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
			for range 10 { // tables this small always want to turn
				if _, err := surface.Maintain(b.Context(), b.db.Pool(b)); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, got[0].claims[0], nil))
		b.wantCount(1)(surface.Nack(b.Context(), b.db.Pool(b), queue, got[1].claims[0], nil, surface.Text("0")))
		b.clock.Advance(b, 48*time.Hour)
		back := b.receiveMany([]int{10}, []string{"1 minute"})[0]
		slices.Sort(back.ids)
		slices.Sort(back.payloads)
		if !slices.Equal(back.ids, ids[1:]) || !slices.Equal(back.payloads, []string{"2", "3"}) {
			b.Errorf("%+v came back, want the messages %v", back, ids[1:])
		}
	})
}

func TestConsumersOfAnOrderedGroupShareNoLane(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b.T, "select weir.drop_group('jobs', 'default'), weir.create_group('jobs', 'default', ordered => true)")
		ids := b.send(4)
		got := b.receiveMany([]int{1, 3}, []string{"1 minute", "1 minute"})
		if !slices.Equal(got[0].ids, ids[:1]) || len(got[1].ids) != 0 {
			b.Fatalf("the lane was given to %+v", got)
		}
		if n := b.ackMany(got[0].claims, nil, nil); !slices.Equal(n, []int{1}) {
			b.Fatalf("acknowledged %v", n)
		}
		b.wantIDs(b.receive(b.db.Pool(b), 10, "1 minute"), 1, ids[1:]...)
	})
}

func TestAcksOfManyAreDoneWhereTheyArePlain(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(8)
		got := b.receiveMany([]int{1, 1, 3, 1, 1, 1},
			[]string{"1 hour", "1 minute", "1 hour", "1 hour", "1 hour", "1 hour"})
		b.clock.Advance(b, 2*time.Minute)
		busy := b.begin()
		b.wantCount(1)(surface.Ack(b.Context(), busy, queue, got[3].claims[0], nil))
		late, several := got[1].claims[0], got[2].claims[0]
		one := surface.Text("{[" + surface.Number(int(ids[2])) + "," + surface.Number(int(ids[2])+1) + ")}")
		foreign := surface.Text("{[" + surface.Number(int(ids[0])) + "," + surface.Number(int(ids[0])+1) + ")}")
		for _, c := range []struct {
			what     string
			claims   []int64
			ids      []*string
			requests []int
			want     []int
		}{
			{"late, locked, never given", []int64{late, got[3].claims[0], 12345}, nil, nil, []int{-1, -1, -1}},
			{"a request that fails in part", []int64{got[0].claims[0], late}, nil, []int{7, 7}, []int{-1, -1}},
			{"a message of another claim", []int64{several}, []*string{foreign}, nil, []int{-1}},
			{"what follows it of its claim", []int64{several, several}, []*string{foreign, one}, nil, []int{-1, -1}},
			{"some, twice", []int64{several, several}, []*string{one, one}, []int{1, 2}, []int{1, 0}},
			{"some that is done", []int64{several}, []*string{one}, nil, []int{0}},
			{"one good request beside a bad one", []int64{got[0].claims[0], late}, nil, []int{1, 2}, []int{1, -1}},
			{"the rest", []int64{several, several}, nil, nil, []int{2, 0}},
			{"again", []int64{several}, nil, nil, []int{0}},
			{"several of one request", []int64{got[4].claims[0], got[5].claims[0]}, nil, []int{3, 3}, []int{1, 1}},
		} {
			if n := b.ackMany(c.claims, c.ids, c.requests); !slices.Equal(n, c.want) {
				b.Errorf("%s: %v, want %v", c.what, n, c.want)
			}
		}
		b.wantCount(0)(surface.Ack(b.Context(), b.db.Pool(b), queue, several, nil))
		b.rollback(busy)
		b.clock.Advance(b, 2*time.Hour)
		b.wantIDs(b.receive(b.db.Pool(b), 10, "1 minute"), 2, ids[1], ids[5])
	})
}

func TestExtendsOfManyAreDoneWhereTheyArePlain(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(4)
		got := b.receiveMany([]int{1, 1, 1, 1}, []string{"10 minutes", "1 minute", "10 minutes", "10 minutes"})
		b.clock.Advance(b, 2*time.Minute)
		late := got[1].claims[0]
		done := pgtest.QueryVal[[]bool](b.T, b.db,
			`select array(select e is not null
			              from unnest(weir.extend_many($1, $2, $3::text[]::interval[], $4)) with ordinality u (e, i)
			              order by i)`,
			queue, []int64{got[0].claims[0], late, got[2].claims[0], got[3].claims[0]},
			[]string{"1 hour", "1 hour", "1 hour", "8 days"}, []int{1, 2, 3, 3})
		if !slices.Equal(done, []bool{true, false, false, false}) {
			b.Errorf("extended: %v", done)
		}
		b.clock.Advance(b, 30*time.Minute)
		b.wantIDs(b.receive(b.db.Pool(b), 10, "1 minute"), 2, ids[1:]...)
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, got[0].claims[0], nil))
	})
}

func TestADeliveryThatWasGivenBackUnusedIsNotCounted(t *testing.T) {
	each(t, func(b bench) {
		b.clock.Run(b) // what is due has been so for a moment
		for _, ordered := range []string{"false", "true"} {
			b.db.Exec(b.T, "select weir.drop_group('jobs', 'default')")
			b.db.Exec(b.T, "select weir.create_group('jobs', 'default', start => 'end', max_attempts => 2, ordered => "+
				ordered+")")
			ids := b.send(2)
			release := func(claim int64, some []int64) {
				b.Helper()
				if n := pgtest.QueryVal[int](b.T, b.db, "select weir.release($1, $2, $3)", queue, claim, some); n != 1 {
					b.Fatalf("gave back %d", n)
				}
			}
			claim, _ := b.claim(2, "1 minute")
			b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, ids[:1]))
			release(claim, ids[1:])
			for range 5 {
				claim, got := b.claim(1, "1 minute")
				b.wantIDs(got, 1, ids[1])
				release(claim, nil)
			}
			claim, _ = b.claim(1, "1 minute")
			b.wantCount(1)(surface.Nack(b.Context(), b.db.Pool(b), queue, claim, nil, surface.Text("0")))
			for range 5 {
				claim, got := b.claim(1, "1 minute")
				b.wantIDs(got, 2, ids[1])
				release(claim, nil)
			}
			claim, _ = b.claim(1, "1 minute")
			b.wantCount(1)(surface.Nack(b.Context(), b.db.Pool(b), queue, claim, nil, surface.Text("0")))
			dead, err := surface.DeadLetters(b.Context(), b.db.Pool(b), queue, group)
			if err != nil || len(dead) != 1 || dead[0].Attempts != 2 {
				b.Errorf("ordered %s: dead letters %v, %v", ordered, dead, err)
			}
		}
	})
}

func TestCallsOfManyAreForWhoMayConsumeOnly(t *testing.T) {
	each(t, func(b bench) {
		role := b.db.Role(b)
		conn := b.db.As(b, role)
		calls := []string{
			`select count(distinct c) = 3 from weir.receive_many('jobs', 'default', '{1,2,3}', '{1 h,1 h,1 h}') m,
				unnest(m.claim_ids) c`,
			`select weir.extend_many('jobs', array(select distinct claim from public.seen), '{2 h,2 h,2 h}') is not null`,
			`select weir.ack_many('jobs', (select array_agg(claim) from public.seen where n = 1), '{"{(,)}"}') = '{1}'`,
			`select weir.settle_many('jobs', '{nack,reject}', (select array_agg(claim order by n) from public.seen where n > 1),
				(select array_agg(case n when 2 then '{(,)}' else ids end order by n) from public.seen where n > 1)) = '{2,2}'`,
		}
		b.send(5)
		_, err := conn.Exec(b.Context(), calls[0])
		surface.WantState(b, err, "42501")
		b.db.Exec(b, "select weir.grant_consume('jobs', '"+role+"')")
		for i, call := range calls {
			var done bool
			if err := conn.QueryRow(b.Context(), call).Scan(&done); err != nil || !done {
				b.Fatalf("%s: %t, %v", call, done, err)
			}
			if i == 0 { // what the role was given, for it to name
				b.db.Exec(b, `create table public.seen as
					select claim, row_number() over (order by claim) as n, ids from weir_log.claims_2
					where kind = 'c' and claim is not null and not exists (
						select from weir_log.claims_2 x where x.claim = claims_2.claim and x.kind = 'x')`)
				b.db.Exec(b, "grant select on public.seen to "+role)
			}
		}
	})
}
