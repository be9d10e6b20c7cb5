package restore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// groups of the queue of a history. What was sent before `recent` began is not for it.
var groups = []string{"default", "ordered", "behind", "keyed", "recent"}

// history leaves a queue as a day's work might: transactions that commit late, rotation, stripes, claims that are
// finished, half finished or held, retries, delays, parked keys, dead letters, a purge.
type history struct {
	*testing.T
	db      *pgtest.DB
	rand    *rand.Rand
	senders []*pgx.Conn
	open    []pgx.Tx
	sent    int
	held    map[string][]surface.Message // by group: received and not finished
}

func newHistory(t *testing.T, major int, seed uint64) *history {
	t.Helper()
	h := &history{
		T: t, db: pgtest.New(t, pgtest.Options{Major: major}), rand: rand.New(rand.NewPCG(seed, 1)),
		held: map[string][]surface.Message{}, open: make([]pgx.Tx, 3),
	}
	surface.CreateQueue(t, h.db.Pool(t), "q", "lanes => 3, priorities => 2")
	h.db.Exec(t, smallSegments)
	h.db.Exec(t, "select weir.configure_group('q', 'default', max_attempts => 100)")
	h.db.Exec(t, "select weir.create_group('q', 'ordered', ordered => true, max_attempts => 100)")
	h.db.Exec(t, "select weir.create_group('q', 'behind', max_attempts => 100)")
	h.db.Exec(t, "select weir.create_group('q', 'keyed', key_concurrency_max => 2, max_attempts => 100)")
	for range h.open {
		h.senders = append(h.senders, h.db.Conn(t))
	}
	return h
}

// play takes n steps at random and ends the open transactions.
func (h *history) play(n int) {
	h.Helper()
	for range n {
		switch k := h.rand.IntN(20); {
		case k < 7:
			h.send()
		case k < 8:
			h.split()
		case k < 14:
			h.consume()
		case k < 16:
			if _, err := surface.Maintain(h.Context(), h.db.Pool(h)); err != nil {
				h.Fatal(err)
			}
		default:
			h.end(h.rand.IntN(len(h.open)))
		}
	}
	for i := range h.open {
		h.end(i)
	}
}

// message makes a payload that tells its number, and perhaps a key and headers.
func (h *history) message() (payload string, key, headers *string) {
	h.sent++
	payload = fmt.Sprintf(`{"n": %d, "x": "%0*d"}`, h.sent, h.rand.IntN(300), 0)
	if h.rand.IntN(4) > 0 {
		key = surface.Text(fmt.Sprintf("k%d", h.rand.IntN(6)))
	}
	if h.rand.IntN(3) == 0 {
		headers = surface.Text(fmt.Sprintf(`{"of": %d}`, h.sent))
	}
	return payload, key, headers
}

// send sends in one of the open transactions, or opens one.
func (h *history) send() {
	h.Helper()
	i := h.rand.IntN(len(h.open))
	if h.open[i] == nil {
		tx, err := h.senders[i].Begin(h.Context())
		if err != nil {
			h.Fatal(err)
		}
		h.open[i] = tx
	}
	var delay *string
	if h.rand.IntN(5) == 0 {
		delay = surface.Text([]string{"1 microsecond", "3 hours"}[h.rand.IntN(2)])
	}
	var payloads []string
	var keys, headers []*string
	for range 1 + h.rand.IntN(8) {
		p, k, o := h.message()
		payloads, keys, headers = append(payloads, p), append(keys, k), append(headers, o)
	}
	if _, err := surface.SendBatch(h.Context(), h.open[i], "q", payloads, keys, headers, delay); err != nil {
		h.Fatal(err)
	}
}

// split has receives of `behind` meet in the lane of what has no key.
func (h *history) split() {
	h.Helper()
	h.db.Exec(h, `select weir_log.split_lane(q, g, 0) from weir_internal.queues q
		join weir_internal.groups g on g.queue_no = q.no where g.name = 'behind'`)
}

// end commits an open transaction, or rolls it back.
func (h *history) end(i int) {
	h.Helper()
	if h.open[i] == nil {
		return
	}
	end := h.open[i].Commit
	if h.rand.IntN(5) == 0 {
		end = h.open[i].Rollback
	}
	if err := end(h.Context()); err != nil {
		h.Fatal(err)
	}
	h.open[i] = nil
}

// consume receives for a group, or settles something of what it holds; `behind` seldom does.
func (h *history) consume() {
	h.Helper()
	group := groups[h.rand.IntN(4)]
	if group == "behind" && h.rand.IntN(3) > 0 {
		return
	}
	ctx, conn := h.Context(), h.db.Pool(h)
	if held := h.held[group]; len(held) == 0 || h.rand.IntN(3) == 0 {
		lease := []string{"1 hour", "1 millisecond"}[h.rand.IntN(8)/7]
		list, err := surface.Receive(ctx, conn, "q", group, 1+h.rand.IntN(12), lease)
		if err != nil {
			h.Fatal(err)
		}
		if lease == "1 hour" {
			h.held[group] = append(held, list...)
		}
		return
	}
	i := h.rand.IntN(len(h.held[group]))
	m := h.held[group][i]
	h.held[group] = append(h.held[group][:i:i], h.held[group][i+1:]...)
	var err error
	switch h.rand.IntN(10) {
	case 0:
		_, err = surface.Nack(ctx, conn, "q", m.ClaimID, []int64{m.ID}, surface.Text("1 minute"))
	case 1:
		_, err = surface.Reject(ctx, conn, "q", m.ClaimID, []int64{m.ID})
	case 2:
		return // held for as long as the lease runs
	default:
		_, err = surface.Ack(ctx, conn, "q", m.ClaimID, []int64{m.ID})
	}
	if state := surface.SQLState(err); err != nil && state != "WR010" { // the key went back to its line
		h.Fatal(err)
	}
}

// TestAGroupIsDeliveredExactlyWhatItHadNotFinished compares an adopted database with the one that was dumped, when
// there every lease and delay has passed.
func TestAGroupIsDeliveredExactlyWhatItHadNotFinished(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		for seed := range uint64(2) {
			h := newHistory(t, major, seed)
			surface.MovableClock(t, h.db)
			age(t, h.db, 10_000)
			h.play(150)
			if seed == 0 {
				h.db.Exec(t, "select weir.purge('q', 'behind')")
			}
			h.db.Exec(t, "select weir.create_group('q', 'recent', start => clock_timestamp()::text, max_attempts => 100)")
			h.play(100)
			to := moved(t, h.db, seed%2 == 1)
			adopt(t, to, 1)
			adopt(t, to, 0)
			for _, db := range []*pgtest.DB{h.db, to} {
				db.Exec(t, "select setval('public.clock_offset', $1)", (5 * time.Hour).Microseconds())
			}
			for _, group := range groups {
				want, got := drain(t, h.db, group), drain(t, to, group)
				wantSame(t, group, got, want)
				if dead := deadLetters(t, h.db, group); dead != deadLetters(t, to, group) {
					t.Errorf("group %s: the dead letters differ", group)
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
			for _, db := range []*pgtest.DB{h.db, to} {
				surface.Settle(t, db.Pool(t))
				left := pgtest.QueryVal[int64](t, db, `select (select count(*) from weir_log.delayed)
					+ (select count(*) from weir_log.parked) + (select count(*) from weir_log.in_key_queues)`)
				if left != 0 {
					t.Errorf("%d messages are left", left)
				}
			}
		}
	})
}

func deadLetters(t *testing.T, db *pgtest.DB, group string) string {
	t.Helper()
	return pgtest.QueryVal[string](t, db,
		"select coalesce(string_agg(d::text, ' ' order by id), '') from weir.dead_letters('q', $1, 10000) d", group)
}
