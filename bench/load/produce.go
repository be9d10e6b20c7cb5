package load

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/weirmq/weir/bench/app"
	weir "github.com/weirmq/weir/sdk/go"
)

// lookEvery is how often a producer that may not go further ahead looks whether it may.
const lookEvery = 2 * time.Millisecond

// producer sends for sessions that no other sends for, so that it knows their order.
type producer struct {
	*load

	first, sessions int
	random          *rand.Rand
	zipf            *rand.Zipf // nil: all sessions alike
	letters         string     // that fillings are cut from
}

func (l *load) newProducer(i int) *producer {
	share := l.o.Sessions / l.o.Producers
	p := &producer{load: l, first: i * share, sessions: share, random: rand.New(rand.NewPCG(l.o.Seed, uint64(i)))}
	if i == l.o.Producers-1 {
		p.sessions = l.o.Sessions - p.first
	}
	if l.o.Skew > 1 && p.sessions > 1 {
		p.zipf = rand.NewZipf(p.random, l.o.Skew, 1, uint64(p.sessions-1))
	}
	letters := make([]byte, 2*l.o.BytesMax)
	for i := range letters {
		letters[i] = 'a' + byte(p.random.IntN('z'-'a'+1)) // nothing that compresses
	}
	p.letters = string(letters)
	return p
}

// produce sends one batch after the other, each when its time has come, all of a session. A send that was late goes at
// once, and its messages' time begins when it was due.
func (l *load) produce(ctx context.Context, i int) {
	p := l.newProducer(i)
	due := l.begin
	var every time.Duration
	if l.o.Rate > 0 {
		every = time.Duration(float64(l.o.Producers*l.o.PushBatch) / float64(l.o.Rate) * float64(time.Second))
		due = due.Add(every * time.Duration(i) / time.Duration(l.o.Producers))
	}
	for {
		if !p.wait(due) {
			return
		}
		if l.o.Rate == 0 {
			due = time.Now()
		}
		n := p.take()
		if n == 0 {
			return
		}
		if err := p.send(ctx, due, n); err != nil {
			l.failed("send", err)
			l.stopSending()
			return
		}
		due = due.Add(every)
	}
}

// take returns how many messages the next batch has: fewer when not so many are left to send.
func (p *producer) take() int {
	if p.o.Messages == 0 {
		return p.o.PushBatch
	}
	n := int64(p.o.PushBatch)
	if left := p.left.Add(-n); left < 0 {
		n += left
	}
	return int(max(0, n))
}

// wait waits until a batch is due and the consumers are near enough, and returns false when no more is to be sent.
func (p *producer) wait(due time.Time) bool {
	pause := time.Until(due)
	for {
		if pause > 0 {
			select {
			case <-p.stop:
				return false
			case <-time.After(pause):
			}
		}
		select {
		case <-p.stop:
			return false
		default:
		}
		if p.o.Ahead == 0 || p.behind() < p.o.Ahead {
			return true
		}
		pause = lookEvery
	}
}

// behind is how many messages the slowest group has yet to finish.
func (l *load) behind() int64 {
	most := int64(0)
	sent := l.pushed.Load()
	for _, c := range l.checkers {
		n := c.Counts()
		most = max(most, sent-n.Done-n.Dead)
	}
	return most
}

func (p *producer) send(ctx context.Context, due time.Time, n int) error {
	session := p.first
	switch {
	case p.zipf != nil:
		session += int(p.zipf.Uint64())
	case p.sessions > 1:
		session += p.random.IntN(p.sessions)
	}
	batch := make([]weir.Outgoing, n)
	seq := p.stream.Announce(session, n)
	for i := range batch {
		bytes := p.o.BytesMin + p.random.IntN(p.o.BytesMax-p.o.BytesMin+1)
		from := p.random.IntN(p.o.BytesMax)
		batch[i].Key = app.Key(session)
		batch[i].Payload = app.NewBody(due, session, seq+int64(i), p.letters[from:], bytes)
	}
	began := time.Now()
	for {
		_, err := p.senders.SendBatch(ctx, app.Queue, batch)
		if err == nil {
			break
		}
		if !away(err) {
			return err
		}
		p.failed("send", err)
		if p.ask(app.Question{Place: app.Place{Session: session, Seq: seq}, Queue: app.Queue, Began: began}) {
			break // a send is one transaction: with its first message the others are there
		}
	}
	p.push.Add(time.Since(began))
	p.pushed.Add(int64(n))
	return nil
}
