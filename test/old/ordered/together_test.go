package ordered_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// several is a queue of four lanes with an ordered group, and messages of 20 keys on their way through it.
type several struct {
	*testing.T
	*rand.Rand
	db   *pgtest.DB
	late []pgx.Tx         // transactions that have sent and are still open
	sent map[string][]int // of each key what was committed and is not received
	of   map[pgx.Tx]map[string][]int
	next int
}

// send sends messages of some keys, whose names begin with a prefix.
func (s *several) send(c surface.Conn, prefix string) map[string][]int {
	got := map[string][]int{}
	var payloads []string
	var keys []*string
	for range 1 + s.IntN(30) {
		key := fmt.Sprint(prefix, s.IntN(20))
		s.next++
		got[key] = append(got[key], s.next)
		payloads, keys = append(payloads, strconv.Itoa(s.next)), append(keys, &key)
	}
	if _, err := surface.SendBatch(s.Context(), c, queue, payloads, keys, nil, nil); err != nil {
		s.Fatal(err)
	}
	return got
}

func (s *several) committed(messages map[string][]int) {
	for key, list := range messages {
		s.sent[key] = append(s.sent[key], list...)
	}
}

// receive checks what it receives against what was committed, and acknowledges most of it.
func (s *several) receive() int {
	most := 1 + s.IntN(60)
	got, err := surface.Receive(s.Context(), s.db.Pool(s), queue, group, most, "1 hour")
	if err != nil || len(got) > most {
		s.Fatalf("received %d of %d: %v", len(got), most, err)
	}
	claims := map[int64]bool{}
	for _, m := range got {
		if list := s.sent[*m.Key]; len(list) == 0 || m.Payload != strconv.Itoa(list[0]) {
			s.Fatalf("received %v of %s, of which %v waits", m, *m.Key, list)
		}
		s.sent[*m.Key] = s.sent[*m.Key][1:]
		claims[m.ClaimID] = true
	}
	for claim := range claims {
		if _, err := surface.Ack(s.Context(), s.db.Pool(s), queue, claim, nil); err != nil {
			s.Fatal(err)
		}
	}
	return len(got)
}

// step sends, keeps a transaction open or ends one, or receives; sometimes the rings turn.
func (s *several) step() {
	switch s.IntN(10) {
	case 0, 1, 2:
		s.committed(s.send(s.db.Pool(s), "key"))
	case 3:
		if len(s.late) == 2 {
			s.end(0)
		}
		tx, err := s.db.Pool(s).Begin(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		s.late = append(s.late, tx)
		s.of[tx] = s.send(tx, fmt.Sprint(s.next, " late ")) // keys of its own: else who comes first is open
	case 4:
		if len(s.late) > 0 {
			s.end(s.IntN(len(s.late)))
		}
	case 5:
		if _, err := surface.Maintain(s.Context(), s.db.Pool(s)); err != nil {
			s.Fatal(err)
		}
	default:
		s.receive()
	}
}

// end commits a transaction or rolls it back.
func (s *several) end(i int) {
	tx := s.late[i]
	s.late = slices.Delete(s.late, i, i+1)
	if s.IntN(3) == 0 {
		if err := tx.Rollback(s.Context()); err != nil {
			s.Fatal(err)
		}
		return
	}
	if err := tx.Commit(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.committed(s.of[tx])
}

func TestLanesTakenTogetherGiveEachMessageOnceAndInOrder(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		create(t, db, 4, "patience => '1 hour'")
		s := &several{
			T: t, Rand: rand.New(rand.NewPCG(1, uint64(major))), db: db,
			sent: map[string][]int{}, of: map[pgx.Tx]map[string][]int{},
		}
		for range 600 {
			s.step()
		}
		for len(s.late) > 0 {
			s.end(0)
		}
		for empty := 0; empty < 3; empty++ {
			if s.receive() > 0 {
				empty = 0
			}
		}
		for key, list := range s.sent {
			if len(list) > 0 {
				t.Errorf("of %s %v never came", key, list)
			}
		}
		t.Logf("%d messages", s.next)
	})
}
