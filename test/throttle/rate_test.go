package limits_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/test/surface"
)

func TestARateFillsEvenlyUpToOnePeriod(t *testing.T) {
	each(t, "max_attempts => 1000, rate_max => 10, rate_period => '10 hours'", func(b bench) {
		b.send(60)
		b.get(10, 50)
		b.get(0, 50)
		b.clock.Advance(b, 90*time.Minute)
		b.get(1, 50)
		b.get(0, 50)
		b.clock.Advance(b, 30*time.Minute)
		b.get(1, 50)
		b.clock.Advance(b, 1000*time.Hour) // no more than one period is saved up
		b.get(10, 50)
		b.clock.Advance(b, -1000*time.Hour) // a clock that goes back locks nobody out for longer than a period
		b.get(0, 50)
		b.clock.Advance(b, 10*time.Hour)
		b.get(10, 50)
		b.configure(`{"rate_max": 1000, "rate_period": "1 second"}`)
		b.clock.Advance(b, time.Second)
		if len(b.receive(b.conn, "limited", 50)) < 28 {
			b.Error("a new rate does not hold at once")
		}
	})
}

// The time that a delivery takes of a rate is rounded up: 999 of 1,000 microseconds are 1,997 deliveries, not 1,998.
func TestARateIsNotExceededByWhatIsRounded(t *testing.T) {
	each(t, "rate_max => 1999, rate_period => '1 millisecond'", func(b bench) {
		b.send(4000)
		b.get(1999, 4000)
		b.clock.Advance(b, 999*time.Microsecond)
		if n := len(b.receive(b.conn, "limited", 4000)); n < 1990 || n > 1997 {
			b.Errorf("received %d in 999 microseconds, want 1990 to 1997", n)
		}
	})
}

func TestADeliveryThatRollsBackCountsForTheRate(t *testing.T) {
	each(t, "rate_max => 4, rate_period => '4 hours'", func(b bench) {
		b.send(20)
		tx := b.begin()
		if got := b.receive(tx, "limited", 3); len(got) != 3 {
			b.Fatalf("received %v", got)
		}
		b.rollback(tx)
		b.get(1, 10)
		b.clock.Advance(b, 4*time.Hour)
		b.get(4, 10) // what expired comes again, and counts again
	})
}

// TestRacingConsumersDoNotExceedARate has many consumers ask at once at one moment after the other.
func TestRacingConsumersDoNotExceedARate(t *testing.T) {
	const consumers, moments, rate = 6, 12, 7
	each(t, "max_attempts => 1000, rate_max => 7, rate_period => '7 hours'", func(b bench) {
		b.send(rate * (moments + 2))
		var total atomic.Int64
		for moment := range moments {
			var wg sync.WaitGroup
			for range consumers {
				conn := b.db.Pool(b)
				wg.Go(func() {
					for range 4 {
						got, err := surface.Receive(b.Context(), conn, queue, "limited", 3, "1 hour")
						if err != nil {
							b.Error(err)
						}
						total.Add(int64(len(got)))
					}
				})
			}
			wg.Wait()
			for { // all may have waited for another in vain
				got := len(b.receive(b.conn, "limited", 3))
				if got == 0 {
					break
				}
				total.Add(int64(got))
			}
			if got := total.Load(); got != int64(rate*(moment+1)) {
				b.Fatalf("%d delivered after %d periods of %d", got, moment+1, rate)
			}
			b.clock.Advance(b, 7*time.Hour)
		}
	})
}
