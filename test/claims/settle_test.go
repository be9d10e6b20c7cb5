package claims_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// settling is what a consumer asks for about messages of a claim.
type settling struct {
	verb          string
	claim         int64
	ids           []int64
	delay, reason *string
	request       int
}

// settleMany returns what settle_many says; -1 stands for null.
func (b bench) settleMany(queue string, list []settling) []int {
	b.Helper()
	var verbs []string
	var claims []int64
	var ids, delays, reasons []*string
	var requests []int
	for _, s := range list {
		verbs, claims, requests = append(verbs, s.verb), append(claims, s.claim), append(requests, s.request)
		delays, reasons = append(delays, s.delay), append(reasons, s.reason)
		some := surface.Text("{(,)}")
		if s.ids != nil {
			some = surface.Ranges(s.ids)
		}
		ids = append(ids, some)
	}
	return pgtest.QueryVal[[]int](b.T, b.db,
		`select array(select coalesce(n, -1) from unnest(weir.settle_many($1, $2, $3, $4::text[]::int8multirange[],
		     $5::text[]::interval[], $6, $7)) with ordinality u (n, i) order by i)`,
		queue, verbs, claims, ids, delays, reasons, requests)
}

// settleAlone makes a call for each settling of a request, all or none, and returns the counts or the SQLSTATE.
func (b bench) settleAlone(queue string, list []settling) (counts []int, state string) {
	b.Helper()
	tx, err := b.db.Pool(b).Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range list {
		sql, args := "select weir.release($1, $2, $3)", []any{queue, s.claim, s.ids}
		switch s.verb {
		case "nack":
			sql, args = "select weir.nack($1, $2, $3, $4::text::interval, $5)", append(args, s.delay, s.reason)
		case "snooze":
			sql, args = "select weir.snooze($1, $2, $3, $4::text::interval)", append(args, s.delay)
		case "reject":
			sql, args = "select weir.reject($1, $2, $3, $4)", append(args, s.reason)
		}
		var n int
		if err := tx.QueryRow(b.Context(), sql, args...).Scan(&n); err != nil {
			b.rollback(tx)
			return nil, surface.SQLState(err)
		}
		counts = append(counts, n)
	}
	b.commit(tx)
	return counts, ""
}

// twin is a bench with two queues that are in the same state as long as the same is done with them. Their messages are
// known by their payloads, which are numbers, since their ids and claims differ.
type twin struct {
	bench
	*rand.Rand
	next  int
	other map[int64]int64 // of ids and claims of the first queue, those of the second
	conn  *pgx.Conn
}

var twins = []string{"one", "many"}

// newTwin makes them; their clock moves only when it is told to, and nothing is left to chance.
func newTwin(b bench, seed uint64, ordered bool) *twin {
	b.Helper()
	b.clock.Stop(b)
	b.db.Exec(b.T, `create or replace function weir_internal.backoff(g weir_internal.groups, p_attempts int)
		returns interval language sql as $$ select g.backoff_min * p_attempts $$`) // not at random
	for _, name := range twins {
		surface.CreateQueue(b, b.db.Pool(b), name, "")
		b.db.Exec(b.T, "select weir.drop_group($1, 'default')", name)
		b.db.Exec(b.T, "select weir.create_group($1, 'default', ordered => $2, max_attempts => 2)", name, ordered)
	}
	return &twin{
		bench: b, Rand: rand.New(rand.NewPCG(seed, 1)), other: map[int64]int64{1 << 40: 1 << 40}, conn: b.db.Conn(b),
	}
}

// deal sends messages to both and claims them in parts of the same sizes; it returns the ids under each claim of the
// first.
func (w *twin) deal(messages int) map[int64][]int64 {
	w.Helper()
	for range messages {
		w.next++
		for _, name := range twins {
			w.db.Exec(w.T, "select weir.send($1, to_jsonb($2::int), key => $3)", name, w.next, fmt.Sprint("k", w.next%5))
		}
	}
	held := map[int64][]int64{}
	for {
		size := 1 + w.IntN(6)
		var got [2][]surface.Message
		for k, name := range twins {
			if _, err := w.conn.Exec(w.Context(), "select setseed(0.5)"); err != nil { // both look at the same places
				w.Fatal(err)
			}
			got[k] = must2(w.bench)(surface.Receive(w.Context(), w.conn, name, group, size, "1 hour"))
		}
		if len(got[0]) == 0 && len(got[1]) == 0 {
			return held
		}
		for i, m := range got[0] {
			if len(got[0]) != len(got[1]) || got[1][i].Payload != m.Payload {
				w.Fatalf("the twins were given different messages: %v", got)
			}
			w.other[m.ClaimID], w.other[m.ID] = got[1][i].ClaimID, got[1][i].ID
			held[m.ClaimID] = append(held[m.ClaimID], m.ID)
		}
	}
}

// ofOther says the same of the second queue.
func (w *twin) ofOther(list []settling) []settling {
	list = slices.Clone(list)
	for i := range list {
		s := &list[i]
		s.ids = slices.Clone(s.ids)
		for j, id := range s.ids {
			s.ids[j] = w.other[id]
		}
		if claim, ok := w.other[s.claim]; ok {
			s.claim = claim
		}
	}
	return list
}

// requests makes up some requests about claims, most of them sensible.
func (w *twin) requests(held map[int64][]int64) (list []settling) {
	claims := make([]int64, 0, len(held))
	for claim := range held {
		claims = append(claims, claim)
	}
	slices.Sort(claims)
	verbs := []string{"nack", "nack", "release", "snooze", "reject"}
	for request := range 1 + w.IntN(8) {
		for range 1 + w.IntN(10)/7 {
			s := settling{verb: verbs[w.IntN(len(verbs))], claim: claims[w.IntN(len(claims))], request: request}
			for _, id := range held[s.claim] {
				if w.IntN(3) == 0 {
					s.ids = append(s.ids, id)
				}
			}
			if s.verb == "snooze" || s.verb == "nack" && w.IntN(2) == 0 {
				s.delay = surface.Text([]string{"0", "1 hour", "2 hours"}[w.IntN(3)])
			}
			if w.IntN(2) == 0 {
				s.reason = surface.Text([]string{"broken", "late"}[w.IntN(2)])
			}
			switch w.IntN(20) {
			case 0:
				s.claim += 1 << 30
			case 1:
				s.ids = append(s.ids, 1<<40)
			case 2:
				s.delay = surface.Text("-1 second")
			case 3:
				s.ids = []int64{}
			}
			list = append(list, s)
		}
	}
	return list
}

// settle has the twins settle the same, one by single calls and the other by settle_many and single calls for what that
// leaves; it returns how many requests settle_many did.
func (w *twin) settle(list []settling) (done, left int) {
	w.Helper()
	others := w.ofOther(list)
	counts := w.settleMany("many", others)
	for _, alone := range []bool{false, true} { // what settle_many did was done first
		for i := 0; i < len(list); {
			n := i + 1
			for n < len(list) && list[n].request == list[i].request {
				n++
			}
			request, twin, got := list[i:n], others[i:n], counts[i:n]
			i = n
			if slices.Contains(got, -1) != alone {
				continue
			}
			want, state := w.settleAlone("one", request)
			if !alone {
				done++
				if state != "" || !slices.Equal(got, want) {
					w.Fatalf("%+v: %v; by single calls %v %s", request, got, want, state)
				}
				continue
			}
			left++
			if slices.ContainsFunc(got, func(n int) bool { return n != -1 }) {
				w.Fatalf("%+v was done in part: %v", request, got)
			}
			if got, other := w.settleAlone("many", twin); other != state || !slices.Equal(got, want) {
				w.Fatalf("%+v: %v %s after settle_many left it, %v %s otherwise", request, got, other, want, state)
			}
		}
	}
	return done, left
}

// wantAlike fails the test when the twins differ in what waits for later, in their dead letters or in who holds what.
func (w *twin) wantAlike() {
	w.Helper()
	state := func(name string) (rows []string) {
		for _, sql := range []string{
			`select format('delayed %s %s %s %s %s', d.payload, d.attempts, d.key, d.due_at, d.reason)
				from weir_log.delayed d join weir_internal.queues q on q.no = d.queue_no where q.name = $1
				order by d.payload, d.attempts, d.due_at`,
			`select format('parked %s %s %s %s %s', p.payload, p.attempts, p.key_queue, p.holder is not null, p.due_at)
				from weir_log.parked p join weir_internal.groups g on g.no = p.group_no
				join weir_internal.queues q on q.no = g.queue_no where q.name = $1 order by p.payload`,
			`select format('dead %s %s %s', payload, attempts, reason)
				from weir.dead_letters($1, 'default', max => 1000) order by payload, attempts`,
			`select format('%s messages claimed, try %s', messages, attempt) from weir.claims($1) order by claim_id`,
		} {
			rows = append(rows, pgtest.QueryAll[string](w.T, w.db, sql, name)...)
		}
		return rows
	}
	a, b := state("one"), state("many")
	if !slices.Equal(a, b) {
		w.Fatalf("by single calls:\n%v\nby settle_many:\n%v", a, b)
	}
}

// drain returns the messages that a queue still has to deliver, a week later, with their attempts.
func (w *twin) drain(name string) (rows []string) {
	w.Helper()
	for {
		got := must2(w.bench)(surface.Receive(w.Context(), w.db.Pool(w), name, group, 1000, "1 hour"))
		for _, m := range got {
			rows = append(rows, fmt.Sprint(m.Payload, " try ", m.Attempt))
			if _, err := surface.Ack(w.Context(), w.db.Pool(w), name, m.ClaimID, []int64{m.ID}); err != nil {
				w.Fatal(err)
			}
		}
		if len(got) == 0 {
			slices.Sort(rows)
			return rows
		}
	}
}

func TestSettlingsOfManyEndAsTheSingleCallsDo(t *testing.T) {
	each(t, func(b bench) {
		for _, ordered := range []bool{false, true} {
			b.Run(fmt.Sprint("ordered ", ordered), func(t *testing.T) {
				t.Parallel()
				db := pgtest.New(t, pgtest.Options{Major: b.db.Major})
				w := newTwin(bench{t, db, surface.MovableClock(t, db)}, 7, ordered)
				done, left := 0, 0
				for range 12 {
					held := w.deal(10)
					for i := 0; i < 5 && len(held) > 0; i++ {
						d, l := w.settle(w.requests(held))
						done, left = done+d, left+l
						w.wantAlike()
					}
					w.clock.Advance(w, time.Duration(w.IntN(90))*time.Minute+time.Second)
				}
				if done < 50 || left < 20 {
					t.Errorf("settle_many did %d requests and left %d: too few to tell", done, left)
				}
				w.clock.Advance(w, 7*24*time.Hour)
				if a, b := w.drain("one"), w.drain("many"); !slices.Equal(a, b) {
					t.Errorf("still to be delivered: %v by single calls, %v by settle_many", a, b)
				}
			})
		}
	})
}

func TestSettlingsOfManyWaitForNobodyAndOneMistakeConcernsNoOther(t *testing.T) {
	each(t, func(b bench) {
		ids := b.send(6)
		got := b.receiveMany([]int{1, 1, 1, 1, 2},
			[]string{"1 hour", "1 minute", "1 hour", "1 hour", "1 hour"})
		b.clock.Advance(b, 2*time.Minute)
		busy := b.begin()
		b.wantCount(1)(surface.Ack(b.Context(), busy, queue, got[2].claims[0], nil))
		plain, late, locked, other, two := got[0].claims[0], got[1].claims[0], got[2].claims[0], got[3].claims[0],
			got[4].claims[0]
		if n := b.settleMany(queue, []settling{
			{verb: "nack", claim: plain, delay: surface.Text("0"), request: 1},
			{verb: "nack", claim: late, request: 2},
			{verb: "release", claim: locked, request: 3},
			{verb: "reject", claim: 12345, request: 4},
			{verb: "nack", claim: other, delay: surface.Text("11 years"), request: 5},
			{verb: "snooze", claim: other, request: 6},
			{verb: "reject", claim: two, ids: ids[4:5], request: 7},
			{verb: "reject", claim: late, request: 7},
			{verb: "reject", claim: two, ids: ids[4:5], request: 8},
			{verb: "nack", claim: two, request: 9},
			{verb: "release", claim: two, request: 10},
		}); !slices.Equal(n, []int{1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 0}) {
			b.Errorf("settled %v", n)
		}
		b.rollback(busy)
		b.wantCount(1)(surface.Ack(b.Context(), b.db.Pool(b), queue, locked, nil))
	})
}

func TestSettlingsOfManyThatAreRolledBackChangeNothing(t *testing.T) {
	each(t, func(b bench) {
		b.send(2)
		claim, _ := b.claim(2, "1 hour")
		tx := b.begin()
		var n []int
		const sql = `select weir.settle_many($1, '{nack}', array[$2::bigint], array['{(,)}'::int8multirange])`
		if err := tx.QueryRow(b.Context(), sql, queue, claim).Scan(&n); err != nil || !slices.Equal(n, []int{2}) {
			b.Fatalf("settled %v, %v", n, err)
		}
		b.rollback(tx)
		b.wantCount(2)(surface.Ack(b.Context(), b.db.Pool(b), queue, claim, nil))
		b.clock.Advance(b, time.Hour)
		b.wantNothing()
	})
}

func TestSettlingsOfManyRefuseArraysThatDoNotBelongTogether(t *testing.T) {
	each(t, func(b bench) {
		const all = `'{"{(,)}"}'`
		for call, state := range map[string]string{
			"settle_many('jobs', '{nack}', '{}', '{}')":                                      "WR006",
			"settle_many('jobs', '{nack}', null, null)":                                      "WR006",
			"settle_many('jobs', '{nack}', '{7,8}', " + all + ")":                            "WR006",
			"settle_many('jobs', null, '{7}', " + all + ")":                                  "WR006",
			"settle_many('jobs', '{finish}', '{7}', " + all + ")":                            "WR006",
			"settle_many('jobs', array[null], '{7}', " + all + ")":                           "WR006",
			"settle_many('jobs', '{nack}', '{7}', " + all + ", delays => '{1s,2s}')":         "WR006",
			"settle_many('jobs', '{nack}', '{7}', " + all + ", reasons => '{}')":             "WR006",
			"settle_many('jobs', '{nack}', '{7}', " + all + ", requests => '{null}'::int[])": "WR006",
			"settle_many('jobs', '{nack}', '{7}', array[null, null]::int8multirange[])":      "WR006",
			"settle_many('jobs', '{nack}', '{7}', null)":                                     "WR006",
			"settle_many('jobs', '{nack}', '{7}', '{null}'::int8multirange[])":               "WR006",
			"settle_many('nowhere', '{nack}', '{7}', " + all + ")":                           "WR001",
			"ack_many('jobs', null, null)":                                                   "WR006",
			"ack_many('jobs', '{}', '{}')":                                                   "WR006",
			"ack_many('jobs', '{7}', null)":                                                  "WR006",
			"ack_many('jobs', '{7}', '{null}'::int8multirange[])":                            "WR006",
			"ack_many('jobs', '{7}', " + all + ", requests => '{1,2}')":                      "WR006",
			"extend_many('jobs', null, null)":                                                "WR006",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir."+call)
			if got := surface.SQLState(err); got != state {
				b.Errorf("%s: %v, want %s", call, err, state)
			}
		}
		tx := b.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		_, err := tx.Exec(b.Context(), "select weir.settle_many('jobs', '{nack}', '{7}', "+all+")")
		surface.WantState(b, err, "WR012")
		b.rollback(tx)
	})
}
