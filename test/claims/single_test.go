package claims_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weirmq/weir/test/surface"
)

// batch sends n messages as one record, each with headers and a payload that say which it is, and returns their ids.
func (b bench) batch(n int) []int64 {
	b.Helper()
	var payloads []string
	var headers []*string
	for i := range n {
		payloads = append(payloads, strconv.Itoa(i))
		headers = append(headers, surface.Text(`{"h": `+strconv.Itoa(i)+`}`))
	}
	ids, err := surface.SendBatch(b.Context(), b.db.Pool(b), queue, payloads, nil, headers, nil)
	if err != nil {
		b.Fatal(err)
	}
	return ids
}

// wantNext receives one message, which must be the message with this id, the i-th of its batch.
func (b bench) wantNext(id int64, i int) {
	b.Helper()
	got := b.receive(b.db.Pool(b), 1, "1 day")
	b.wantIDs(got, 1, id)
	m := got[0]
	if n := strconv.Itoa(i); m.Payload != n || *m.Headers != `{"h": `+n+`}` {
		b.Fatalf("received %s with headers %s, want those of number %d of its batch", m, *m.Headers, i)
	}
}

// A receive of one message goes a way of its own, one of several another: both go through a record one after the other.
func TestSingleMessagesOfARecordComeEachOnceWhateverWasClaimedOfItBefore(t *testing.T) {
	each(t, func(b bench) {
		for taken := range 4 { // receives of several that come before the single ones, or between them
			one, two := b.batch(4), b.batch(2)
			if taken > 0 {
				b.wantIDs(b.receive(b.db.Pool(b), taken, "1 day"), 1, one[:taken]...)
			}
			b.wantNext(one[taken], taken)
			tx := b.begin()
			if got := b.receive(tx, 1, "1 day"); len(got) != 1 {
				b.Fatalf("received %v, want one message", got)
			}
			b.rollback(tx)
			for i := taken + 1; i < 4; i++ {
				b.wantNext(one[i], i)
			}
			b.wantNext(two[0], 0)
			b.wantIDs(b.receive(b.db.Pool(b), 10, "1 day"), 1, two[1])
			b.wantNothing()
		}
	})
}

func TestSingleMessagesOfARecordComeAgainWhenTheirLeasesEnd(t *testing.T) {
	each(t, func(b bench) {
		ids := b.batch(4)
		for i := range ids {
			b.wantIDs(b.receive(b.db.Pool(b), 1, "1 minute"), 1, ids[i])
		}
		b.clock.Advance(b.T, 2*time.Minute)
		var again []surface.Message
		for range ids {
			again = append(again, b.receive(b.db.Pool(b), 1, "1 minute")...)
		}
		b.wantIDs(again, 2, ids...)
		for _, m := range again {
			if m.Payload != strconv.FormatInt(m.ID-ids[0], 10) {
				b.Errorf("received %s with payload %s, which is another's", m, m.Payload)
			}
			if n, err := surface.Ack(b.Context(), b.db.Pool(b), queue, m.ClaimID, nil); n != 1 || err != nil {
				b.Errorf("ack of %s finished %d, %v, want 1", m, n, err)
			}
		}
		b.clock.Advance(b.T, 2*time.Minute)
		b.wantNothing()
	})
}

func TestASeekIntoARecordIsKeptToByAReceiveOfOneMessage(t *testing.T) {
	each(t, func(b bench) {
		ids := b.batch(4)
		for i := range ids {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.seek($1, $2, $3)", queue, group,
				strconv.FormatInt(ids[i], 10))
			if err != nil {
				b.Fatal(err)
			}
			for j := i; j < len(ids); j++ {
				b.wantNext(ids[j], j)
			}
			b.wantNothing()
		}
	})
}

// What is not plain about a record is for the general way: ids with gaps, attempts it had already, a time before the
// group's beginning.
func TestAReceiveOfOneMessageSeesWhatIsPeculiarToARecord(t *testing.T) {
	each(t, func(b bench) {
		for range 2 { // the second finds the cursor in the middle of the log
			var ids []int64
			for range 6 {
				var id int64
				if err := b.db.Pool(b).QueryRow(b.Context(), "select (weir_internal.next_ids(1))[1]").Scan(&id); err != nil {
					b.Fatal(err)
				}
				ids = append(ids, id)
			}
			b.insert("1, null, null, $2::text::timestamptz", ids[5], "1970-01-01")
			b.insert("2, array[$2, $1::bigint], null, now()", ids[2], ids[0])
			b.insert("2, null, array[0, $2::smallint], now()", ids[4], 2)
			_, err := b.db.Pool(b).Exec(b.Context(), "update weir_internal.groups set since = '2000-01-01'")
			if err != nil {
				b.Fatal(err)
			}
			var got []int64
			var attempts []int
			for range 4 {
				m := b.receive(b.db.Pool(b), 1, "1 day")
				if len(m) != 1 {
					b.Fatalf("received %v, want one message", m)
				}
				got, attempts = append(got, m[0].ID), append(attempts, m[0].Attempt)
			}
			want := []int64{ids[0], ids[2], ids[4] - 1, ids[4]}
			if !slices.Equal(got, want) || !slices.Equal(attempts, []int{1, 1, 1, 3}) {
				b.Errorf("received %v for the times %v, want %v for the times [1 1 1 3]", got, attempts, want)
			}
			b.wantNothing()
		}
	})
}

// insert puts a record of two messages at most into the log, where $1 is its id: n, ids, attempts, enqueued_at.
func (b bench) insert(values string, args ...any) {
	b.Helper()
	_, err := b.db.Pool(b).Exec(b.Context(), `
		insert into weir_log.log_1 (id, n, ids, attempts, enqueued_at, queue_no, lane, payloads)
		select r.id, r.n, r.ids::bigint[], r.attempts::smallint[], r.enqueued_at,
			(select no from weir_internal.queues), 0, (array['0', '0'])[:r.n]
		from (values ($1::bigint, `+values+`)) as r (id, n, ids, attempts, enqueued_at)`, args...)
	if err != nil {
		b.Fatal(err)
	}
}
