package ordered_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/test/surface"
)

// The delete of what an ack takes out of its line must not be planned as a walk over all that is parked, as a join with
// the ids is where many rows are dead.
func TestAnAckOutOfALineReadsNoMoreWhenMuchIsParked(t *testing.T) {
	const (
		parked   = 400
		left     = 60
		readMost = 10 // rows of those that are parked; one is enough
	)
	each(t, "patience => '1 hour'", func(l lines) {
		payloads, keys := make([]string, parked), make([]*string, parked)
		for i := range payloads {
			key := "key" + strconv.Itoa(i)
			payloads[i], keys[i] = `"`+strings.Repeat("x", 1000)+`"`, &key
		}
		pool := l.db.Pool(l)
		if _, err := surface.SendBatch(l.Context(), pool, queue, payloads, keys, nil, nil); err != nil {
			l.Fatal(err)
		}
		all := func() (claim int64, ids []int64) {
			got, err := surface.Receive(l.Context(), pool, queue, group, parked, "1 hour")
			if err != nil || len(got) != parked {
				l.Fatalf("received %d, %v", len(got), err)
			}
			for _, m := range got {
				ids = append(ids, m.ID)
			}
			return got[0].ClaimID, ids
		}
		claim, ids := all()
		now := "0 seconds"
		if _, err := surface.Nack(l.Context(), pool, queue, claim, ids, &now); err != nil {
			l.Fatal(err)
		}
		claim, ids = all()
		if _, err := surface.Ack(l.Context(), pool, queue, claim, ids[left:]); err != nil {
			l.Fatal(err)
		}
		l.db.Exec(l, "analyze")
		tx, err := pool.Begin(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		defer tx.Rollback(l.Context()) //nolint:errcheck // it ends with the test
		read := -rowsRead(l, tx)
		if n, err := surface.Ack(l.Context(), tx, queue, claim, ids[:1]); err != nil || n != 1 {
			l.Fatalf("ack: %d, %v", n, err)
		}
		read += rowsRead(l, tx)
		if read > readMost || read < 1 {
			l.Errorf("the ack read %d parked rows of %d, at most %d", read, left, readMost)
		}
	})
}

// rowsRead is how many parked rows the backend has read that it has not yet told the others about.
func rowsRead(l lines, tx pgx.Tx) (n int64) {
	err := tx.QueryRow(l.Context(), `select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
		where relname like '%\_parked'`).Scan(&n)
	if err != nil {
		l.Fatal(err)
	}
	return n
}

// What is parked is found by the index, line after line, and read only as far as it is claimed.
func TestLinesAreReadNoFurtherThanTheyAreClaimed(t *testing.T) {
	const (
		waiting  = 300 // messages of each of three keys
		readMost = 60  // rows of 900
	)
	each(t, "patience => '1 hour'", func(l lines) {
		l.sendBatch("abc" + strings.Repeat("a", waiting) + strings.Repeat("b", waiting) + strings.Repeat("c", waiting))
		for _, m := range l.receive(3, "1 hour", "a1", "b2", "c3") {
			l.nack(m, "0")
		}
		l.receive(1000, "1 hour", "a1", "b2", "c3") // what came behind them joins their lines
		l.db.Exec(l, "analyze")
		pool := l.db.Pool(l)
		reads := func(what string, do func(tx pgx.Tx)) {
			tx, err := pool.Begin(l.Context())
			if err != nil {
				l.Fatal(err)
			}
			defer tx.Rollback(l.Context()) //nolint:errcheck // so that the next begins where this did
			read := -rowsRead(l, tx)
			do(tx)
			if read += rowsRead(l, tx); read > readMost {
				l.Errorf("%s read %d parked rows, at most %d", what, read, readMost)
			}
		}
		receive := func(tx pgx.Tx, batchMax int) {
			if _, err := surface.Receive(l.Context(), tx, queue, group, batchMax, "1 hour"); err != nil {
				l.Fatal(err)
			}
		}
		reads("a receive while all is claimed", func(tx pgx.Tx) { receive(tx, 1000) })
		l.send("a", 0)
		reads("a claim in the lane", func(tx pgx.Tx) { receive(tx, 1000) })
		l.clock.Advance(l, 2*time.Hour)
		reads("a claim of heads that failed", func(tx pgx.Tx) { receive(tx, 1000) })
		l.db.Exec(l, "update weir_internal.q1_parked set attempts = 0")
		reads("a claim of ten of what waits", func(tx pgx.Tx) { receive(tx, 10) })
	})
}

// What else a claim that left its lane holds of the lines in trouble is looked for by its ids.
func TestANackOfEveryOtherMessageReadsEachLineOnce(t *testing.T) {
	const (
		messages   = 1000
		bufferMost = 30 // a message; 500 where each range of ids walks over all lines
	)
	each(t, "patience => '1 second'", func(l lines) {
		l.db.Exec(l, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]),
			array(select 'key' || i from generate_series(1, $2::int) i))`, queue, messages)
		got, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, messages, "1 hour")
		if err != nil || len(got) != messages {
			l.Fatalf("received %d, %v", len(got), err)
		}
		l.clock.Advance(l, 2*time.Second)
		l.send("other", 0)
		l.receive(10, "1 hour", "other0")
		n := surface.Buffers(l, l.db.Conn(l),
			"select weir.nack($1, $2, array(select i from generate_series($3::bigint, $4, 2) i))",
			queue, got[0].ClaimID, got[0].ID, got[messages-1].ID)
		if n > bufferMost*messages {
			l.Errorf("a nack of %d of %d messages touches %d buffers", messages/2, messages, n)
		}
	})
}
