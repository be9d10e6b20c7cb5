package ordered_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// troubled sends messages of one key a letter, has the first of each key fail and then succeed: the rest of each key
// waits in its line, and the one that failed was done alone.
func (l lines) troubled(keys string) {
	l.Helper()
	l.sendBatch(keys)
	heads := map[string]string{}
	var want []string
	for i, key := range strings.Split(keys, "") {
		if name := fmt.Sprintf("%s%d", key, i+1); heads[key] == "" {
			heads[key] = name
			want = append(want, name)
		}
	}
	got, err := surface.Receive(l.Context(), l.db.Pool(l), queue, group, len(keys), "1 hour")
	if err != nil || len(got) != len(keys) {
		l.Fatalf("received %v, %v", got, err)
	}
	for _, m := range got {
		if heads[m.Payload[1:2]] == strings.Trim(m.Payload, `"`) {
			l.nack(m, "0")
		}
	}
	for _, m := range l.receive(len(keys), "1 hour", want...) {
		l.ack(m)
	}
}

func TestAKeyThatLeftItsTroubleBehindIsDeliveredWhatWaitsUpToWhatIsAskedFor(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.troubled("aaaaaa")
		for _, m := range l.receive(3, "1 hour", "a2", "a3", "a4") {
			l.ack(m)
		}
		for _, m := range l.receive(3, "1 hour", "a5", "a6") {
			l.ack(m)
		}
		l.send("a", 7)
		l.ack(l.receive(3, "1 hour", "a7")[0])
	})
}

func TestLinesShareWhatIsAskedForAndEachIsGivenOneMessage(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.troubled("aaaabbbbcccc")
		l.receive(2, "1 hour", "a2", "b6")
		l.receive(100, "1 hour", "c10", "c11", "c12")
		l.receive(100, "1 hour") // what follows in a claimed line waits
	})
}

func TestAFailureTakesAlongWhatTheClaimHoldsOfItsLineOnly(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.troubled("aaaabb")
		got := l.receive(10, "1 hour", "a2", "a3", "a4", "b6")
		l.ack(got[0])
		l.nack(got[1], "0")
		n, err := surface.Ack(l.Context(), l.db.Pool(l), queue, got[2].ClaimID, []int64{got[2].ID})
		if err != nil || n != 0 {
			l.Errorf("ack of a4, which stands behind a3: %d, %v", n, err)
		}
		l.ack(got[3])
		again := l.receive(10, "1 hour", "a3")
		if again[0].Attempt != 2 {
			l.Errorf("attempt %d of what failed, want 2", again[0].Attempt)
		}
		l.receive(10, "1 hour")
		l.ack(again[0])
		last := l.receive(10, "1 hour", "a4")
		if last[0].Attempt != 1 {
			l.Errorf("attempt %d of what was taken along, want 1", last[0].Attempt)
		}
		l.ack(last[0])
	})
}

func TestAnExpiredClaimOfALineComesAgainInOrderToOneConsumerAtATime(t *testing.T) {
	each(t, "patience => '1 hour', max_attempts => 3", func(l lines) {
		l.troubled("aaaab")
		lost := l.receive(10, "1 minute", "a2", "a3", "a4")
		l.clock.Advance(l, 2*time.Minute)
		for _, want := range []string{"a2", "a3", "a4"} {
			got := l.receive(2, "1 hour", want)
			l.receive(2, "1 hour") // the rest of the key is not another's
			if got[0].Attempt != 2 {
				l.Errorf("attempt %d of %s, want 2", got[0].Attempt, want)
			}
			l.ack(got[0])
		}
		_, err := surface.Ack(l.Context(), l.db.Pool(l), queue, lost[0].ClaimID, nil)
		surface.WantState(l.T, err, "WR010")
	})
}

func TestWhatIsClaimedOfALineIsCountedOnce(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.troubled("aaaaa")
		l.receive(2, "1 hour", "a2", "a3")
		got := pgtest.QueryVal[string](l, l.db, `select format('%s claimed, %s parked, %s waiting', claimed, parked, waiting)
			from weir.stats($1) where group_name = $2`, queue, group)
		if got != "2 claimed, 2 parked, 0 waiting" {
			l.Errorf("%s, want 2 claimed, 2 parked, 0 waiting", got)
		}
	})
}

func TestAClaimInALaneLooksNoFurtherBackThanTheOneBefore(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		var last surface.Message
		for n := range 3 {
			l.send("a", 2*n)
			l.send("a", 2*n+1)
			got := l.receive(2, "1 hour", "a"+surface.Number(2*n), "a"+surface.Number(2*n+1))
			low := pgtest.QueryVal[int64](l, l.db, `select (weir_internal.q1_cursor((no * 2)::smallint)).low
				from weir_internal.groups where name = $1`, group)
			if low < last.ClaimID {
				l.Errorf("the low-water mark is %d, the claim before %d", low, last.ClaimID)
			}
			last = got[0]
			l.ack(got[0])
			l.ack(got[1])
		}
	})
}

func TestWhatCameLateIsDeliveredByItself(t *testing.T) {
	each(t, "patience => '1 hour'", func(l lines) {
		l.troubled("aaa")
		key, delay := "a", "5 seconds"
		if _, err := surface.Send(l.Context(), l.db.Pool(l), queue, `"later"`, &key, nil, &delay); err != nil {
			l.Fatal(err)
		}
		l.clock.Advance(l, 6*time.Second)
		for _, m := range l.receive(10, "1 hour", "a2", "a3") {
			l.ack(m)
		}
		l.ack(l.receive(10, "1 hour", "later")[0])
	})
}

func TestWhatIsPastItsTTLIsNotDeliveredBehindWhatIsNot(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 1, ttl => '1 minute'")
		db.Exec(t, "select weir.create_group('"+queue+"', '"+group+"', ordered => true, patience => '1 hour')")
		l := lines{t, db, surface.StoppedClock(t, db)}
		late, err := db.Conn(t).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key := "a"
		if _, err := surface.Send(t.Context(), late, queue, `"late"`, &key, nil, nil); err != nil {
			t.Fatal(err)
		}
		l.clock.Advance(t, 30*time.Second)
		l.send("a", 1)
		l.nack(l.receive(1, "1 hour", "a1")[0], "0")
		l.send("a", 2)
		head := l.receive(1, "1 hour", "a1")[0]
		l.send("b", 3)
		l.ack(l.receive(9, "1 hour", "b3")[0]) // on its way there a2 has joined the line of a1
		if err := late.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.send("b", 4)
		l.ack(l.receive(9, "1 hour", "b4")[0]) // and the late message, which was sent before both, has joined it
		l.clock.Advance(t, 40*time.Second)
		l.ack(head)
		l.ack(l.receive(9, "1 hour", "a2")[0])
		l.receive(9, "1 hour")
	})
}
