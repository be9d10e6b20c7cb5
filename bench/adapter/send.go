package adapter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	creditWait = time.Millisecond      // of a producer without credit, before it looks again
	retryEvery = 50 * time.Millisecond // of a send that failed, in a run in which something is killed
	retryFor   = 2 * time.Minute       // likewise
)

// lettersLength is how many letters the payloads of a run are cut from, one after the other: so many that none is to be
// found again in what a compressor sees at once.
const lettersLength = 1 << 18

// Messages makes the messages of a run. A payload is {"n":N,"v":"..."} of the wanted length, whose letters do not
// compress, not those of one batch together either; one too short for its number is as short as that allows.
type Messages struct {
	letters []byte
	bytes   int
	keys    int64
}

// NewMessages returns the source for a command: the same for every system.
func NewMessages(c *Command) *Messages {
	letters := make([]byte, lettersLength)
	source := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // is to be the same in every run
	for i := range letters {
		letters[i] = 'a' + byte(source.IntN('z'-'a'+1))
	}
	return &Messages{letters: letters, bytes: c.Bytes, keys: int64(c.Keys)}
}

// Make returns message n.
func (g *Messages) Make(n int64) Message {
	payload := make([]byte, 0, max(g.bytes, 24))
	payload = append(payload, `{"n":`...)
	payload = strconv.AppendInt(payload, n, 10)
	payload = append(payload, `,"v":"`...)
	if free := g.bytes - len(payload) - len(`"}`); free > 0 {
		at := int(n*int64(free)) % (len(g.letters) - free) // another part of the letters for each
		payload = append(payload, g.letters[at:at+free]...)
	}
	payload = append(payload, `"}`...)
	m := Message{N: n, Payload: payload}
	if g.keys > 0 {
		m.Key = Key(n % g.keys)
	}
	return m
}

// Key is the name of a key.
func Key(k int64) string { return "k" + strconv.FormatInt(k, 10) }

// GroupName is the name of a group: number i of the command's Groups.
func GroupName(i int) string { return "g" + strconv.Itoa(i) }

// pace hands out numbers to the producers.
type pace struct {
	*session
	c     *Command
	start time.Time
	next  atomic.Int64
}

// take returns the numbers of the next batch, [from, to), when they are due; none when the run is over.
func (p *pace) take(ctx context.Context) (from, to int64) {
	c := p.c
	to = p.next.Add(int64(c.Batch))
	from = to - int64(c.Batch)
	if c.Rate == 0 && p.over(from) {
		return 0, 0
	}
	end := c.First + c.Count
	if c.Rate > 0 {
		if c.Count == 0 {
			end = c.First + int64(c.Rate*c.Seconds)
		}
		due := time.Duration(float64(from-c.First) / c.Rate * float64(time.Second))
		sleep(ctx, time.Until(p.start.Add(due)))
	}
	if c.Count > 0 || c.Rate > 0 {
		to = min(to, end)
	}
	for c.Window && to > p.credit.Load() && ctx.Err() == nil {
		if p.over(from) {
			return 0, 0
		}
		sleep(ctx, creditWait)
	}
	if from >= to || ctx.Err() != nil {
		return 0, 0
	}
	return from, to
}

// over reports whether the time has ended before the batch that begins with a number. The first batch is sent however
// late it is: on a machine with much else to do a short run would send nothing.
func (p *pace) over(from int64) bool {
	return p.c.Seconds > 0 && from > p.c.First && time.Since(p.start).Seconds() >= p.c.Seconds
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// insist sends a batch and, in a run in which something is killed, sends it again when that failed: at least once.
func insist(ctx context.Context, c *Command, send func(context.Context, []Message) error, batch []Message) error {
	for began := time.Now(); ; sleep(ctx, retryEvery) {
		err := send(ctx, batch)
		if err == nil || c.LeaseS == 0 || time.Since(began) > retryFor {
			return err
		}
	}
}

// send runs the producers of a command.
func (s *session) send(ctx context.Context, sys System, c *Command) error {
	sends := make([]func(context.Context, []Message) error, c.Clients)
	for i := range sends {
		var err error
		if sends[i], err = sys.Producer(ctx, c); err != nil {
			return err
		}
	}
	source := NewMessages(c)
	p := &pace{session: s, c: c, start: s.begin(ctx)}
	p.next.Store(c.First)
	var sent atomic.Int64
	var once sync.Once
	var failure error
	var producers sync.WaitGroup
	for _, send := range sends {
		producers.Go(func() {
			for {
				from, to := p.take(ctx)
				if from == to {
					return
				}
				batch := make([]Message, 0, to-from)
				for n := from; n < to; n++ {
					batch = append(batch, source.Make(n))
				}
				if err := insist(context.WithoutCancel(ctx), c, send, batch); err != nil {
					once.Do(func() { failure = fmt.Errorf("send: %w", err); s.stop() })
					return
				}
				sent.Add(to - from)
			}
		})
	}
	producers.Wait()
	if failure != nil {
		return failure
	}
	s.say(Event{Event: "done", Count: sent.Load()})
	return nil
}
