package weir

import (
	"math/rand/v2"
	"testing"
	"time"
)

// windowsOn feeds a cooldown with fetches and returns in which share of many windows it is on. In each window so many
// messages come a second as rate says, which knows whether it is on.
func windowsOn(t *testing.T, c *cooldown, full bool, rate func(on bool) float64) float64 {
	t.Helper()
	const fetches, windows = 10, 2000
	now, on := time.Unix(0, 0), 0
	c.fetched(now, 0, false)
	for range windows {
		messages := int(rate(c.on) * cooldownWindow.Seconds() / fetches)
		if c.on {
			on++
		}
		for range fetches {
			now = now.Add(cooldownWindow / fetches)
			c.fetched(now, messages, full)
		}
	}
	return float64(on) / windows
}

func steady(rate float64) func(bool) float64 { return func(bool) float64 { return rate } }

func TestACooldownIsForThousandsOfMessagesASecondThatComeAsQuicklyWithIt(t *testing.T) {
	t.Parallel()
	noisy := func(bool) float64 { return 4000 + 1000*rand.Float64() }
	loop := func(on bool) float64 {
		if on {
			return 2000 // as of jobs that send others: with time between the calls they come later
		}
		return 4000
	}
	for name, test := range map[string]struct {
		rate        func(bool) float64
		full        bool
		options     WorkerOptions
		least, most float64
	}{
		"no message":     {rate: steady(0)},
		"1,000 a second": {rate: steady(1000)},
		"3,000 a second": {rate: steady(3000)},
		"4,000 a second": {rate: steady(4000), least: 0.99, most: 1},
		"4,000 to 5,000": {rate: noisy, least: 0.9, most: 1},
		"a backlog":      {rate: steady(50_000), full: true},
		"few in a loop":  {rate: loop, least: 0.001, most: 0.05},
		"none":           {rate: steady(4000), options: WorkerOptions{Cooldown: -1}},
		"longer":         {rate: steady(1000), options: WorkerOptions{Cooldown: 20 * time.Millisecond}, least: 0.99, most: 1},
		"short lease":    {rate: steady(4000), options: WorkerOptions{Lease: 100 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.options.setDefaults()
			c := newCooldown(test.options)
			if got := windowsOn(t, &c, test.full, test.rate); got < test.least || got > test.most {
				t.Errorf("on in %.4f of the windows, want %v to %v", got, test.least, test.most)
			}
		})
	}
}

func TestACooldownIsCountedFromTheBeginOfTheCallBefore(t *testing.T) {
	t.Parallel()
	c := cooldown{time: 5 * time.Millisecond, on: true}
	for ago, want := range map[time.Duration]time.Duration{
		0: c.time, time.Millisecond: 4 * time.Millisecond, c.time: 0, time.Hour: 0,
	} {
		if got := c.left(ago); got != want {
			t.Errorf("%v after the begin of a call %v are left, want %v", ago, got, want)
		}
	}
	c.on = false
	if got := c.left(0); got != 0 {
		t.Errorf("while it is off %v are left", got)
	}
}

func TestAPaceRisesWhileHandlersAreQuickAndFallsWhenTheyAreSlowOrMessagesLarge(t *testing.T) {
	t.Parallel()
	p := newPace(WorkerOptions{Concurrency: 2})
	fetch := func(took, wait time.Duration, bytes int, full bool) int {
		if took > 0 {
			p.did(took)
		}
		p.began(wait)
		n := p.now
		p.fetched(n, n*bytes, full)
		return p.now
	}
	if n := fetch(0, 0, 10, true); n != 4 {
		t.Errorf("holds %d before a handler has ended", n)
	}
	if n := fetch(time.Microsecond, 0, 10, true); n != 8 {
		t.Errorf("holds %d after a first round of quick handlers", n)
	}
	for range 20 {
		fetch(time.Microsecond, 0, 10, true)
	}
	if p.now != heldMax || p.claimMax() != heldMax/2 {
		t.Errorf("holds %d at its fullest, and claims %d", p.now, p.claimMax())
	}
	if n := fetch(0, time.Second, 10, true); n != heldMax/10 {
		t.Errorf("holds %d when a message waited a second", n)
	}
	for range 30 {
		fetch(2*time.Millisecond, 0, 10, true)
	}
	if p.now < 99 || p.now > 101 {
		t.Errorf("holds %d for two handlers of 2 ms, which work off 100 in a tenth of a second", p.now)
	}
	if n := fetch(0, 0, 1<<20, false); n != 32 {
		t.Errorf("holds %d messages of a mebibyte", n)
	}
	if n := fetch(0, 0, 64<<20, false); n != 4 {
		t.Errorf("holds %d messages of 64 mebibytes", n)
	}
	few := newPace(WorkerOptions{Concurrency: 10, Prefetch: 15})
	few.did(time.Millisecond)
	if few.fetched(15, 15, true); few.now != 15 {
		t.Errorf("holds %d where it may hold 15", few.now)
	}
}
