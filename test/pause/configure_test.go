package pause_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestConfigureQueueLeavesSendersAtWork(t *testing.T) {
	each(t, "4", func(b bench) {
		ctx, stop := context.WithTimeout(b.Context(), 2*time.Second)
		defer stop()
		var sent atomic.Int64
		var senders sync.WaitGroup
		for range 3 {
			senders.Go(func() {
				for ctx.Err() == nil {
					_, err := b.db.Pool(b).Exec(b.Context(),
						"select weir.send($1, '1'), count(*) from weir.receive($1)", queue)
					if err != nil {
						b.Errorf("send: %v", err)
						return
					}
					sent.Add(1)
				}
			})
		}
		senders.Go(func() { // another one who configures
			for ctx.Err() == nil {
				_, err := b.db.Pool(b).Exec(b.Context(), "select weir.configure_queue($1, message_bytes_max => 5000)", queue)
				if err != nil {
					b.Errorf("configure: %v", err)
				}
			}
		})
		for i := 0; ctx.Err() == nil; i++ {
			b.exec("select weir.configure_queue($1, message_bytes_max => $2)", queue, 2048+i)
		}
		senders.Wait()
		b.wantCount(int(sent.Load()), "select waiting + delivered from weir.stats($1)", queue)
	})
}

func TestConfigureQueueChangesWhatItIsTold(t *testing.T) {
	each(t, "1", func(b bench) {
		send := "select weir.send($1, to_jsonb(repeat('x', 3000)))"
		b.exec(send, queue)
		b.exec("select weir.configure_queue($1, message_bytes_max => 2048)", queue)
		b.fails("WR008", send, queue)
		b.exec("select weir.configure_queue($1, segment_bytes => 70000)", queue)
		b.exec("select weir.configure_queue($1, claims_bytes => 80000)", queue)
		b.exec("select weir.configure_queue($1)", queue)
		got := pgtest.QueryVal[string](b, b.db,
			"select concat_ws(' ', lanes, message_bytes_max, segment_bytes, claims_bytes) from weir.list_queues()")
		if got != "1 2048 70000 80000" {
			b.Errorf("the queue has %s", got)
		}
		for _, bad := range []string{"message_bytes_max => 1023", "segment_bytes => 1", "claims_bytes => 65535"} {
			b.fails("WR006", "select weir.configure_queue($1, "+bad+")", queue)
		}
		b.exec("select weir.configure_queue($1, lanes => 1)", queue)
		b.fails("WR015", "select weir.configure_queue($1, lanes => 2)", queue)
		b.fails("WR001", "select weir.configure_queue('none')")
	})
}

func TestConfigureGroupHoldsFromTheNextCallOn(t *testing.T) {
	each(t, "1", func(b bench) {
		b.send(1)
		got := b.receive("default", 1)
		b.exec("select weir.configure_group($1, 'default', max_attempts => 2)", queue)
		b.exec("select weir.configure_group($1, 'default', backoff_min => '2 hours', backoff_max => '3 hours')", queue)
		b.exec("select weir.configure_group($1, 'default', patience => '5 seconds')", queue)
		b.wantCount(1, "select weir.nack($1, $2)", queue, got[0].ClaimID)
		b.clock.Advance(b, time.Hour)
		b.wantIDs("default")
		b.clock.Advance(b, 90*time.Minute)
		got = b.receive("default", 1)
		if len(got) != 1 {
			b.Fatal("not delivered again")
		}
		b.wantCount(1, "select weir.nack($1, $2)", queue, got[0].ClaimID)
		dead, err := surface.DeadLetters(b.Context(), b.db.Pool(b), queue, "default")
		if err != nil || len(dead) != 1 {
			b.Errorf("dead letters %v, %v", dead, err)
		}
		for _, bad := range []string{
			"max_attempts => 0", "backoff_min => '4 hours'", "backoff_max => '1 hour'", "patience => '-1 s'",
		} {
			b.fails("WR006", "select weir.configure_group($1, 'default', "+bad+")", queue)
		}
		b.fails("WR003", "select weir.configure_group($1, 'none')", queue)
		b.fails("WR001", "select weir.configure_group('none', 'none')")
	})
}
