package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirmq/weir/bench/app"
	weir "github.com/weirmq/weir/sdk/go"
)

// load is a run of producers and consumers.
type load struct {
	o       app.Options
	chance  app.Chance
	senders *weir.Client // of producers, so that they do not wait behind acks
	takers  *weir.Client // of consumers

	stream, second *app.Stream
	checkers       []*app.Checker // one a group
	secondChecker  *app.Checker

	begin    time.Time
	stop     chan struct{} // closed: send no more
	stopOnce sync.Once
	finish   chan struct{} // closed: take no more
	sent     chan struct{} // closed when the producers have ended

	pushed, commits, failures, lost atomic.Int64
	cut, found                      atomic.Int64

	left                     atomic.Int64 // messages that may still be sent
	push, delivery, finished *app.Clock

	forwarding []sync.Mutex // by session: one forward at a time, so that the second queue has its order

	writing sync.Mutex // a line at a time

	mu    sync.Mutex
	told  []string // failures
	asked int64
	open  map[int64]chan bool // questions
}

func newLoad(ctx context.Context, c *app.Command) (*load, error) {
	l := &load{
		o: c.Options, stream: app.NewStream(c.Options.Sessions), second: app.NewStream(c.Options.Sessions),
		stop: make(chan struct{}), finish: make(chan struct{}), sent: make(chan struct{}),
		push: app.NewClock(), delivery: app.NewClock(), finished: app.NewClock(),
		forwarding: make([]sync.Mutex, c.Options.Sessions), open: map[int64]chan bool{},
	}
	l.chance = app.NewChance(&l.o)
	l.left.Store(l.o.Messages)
	for i := range l.o.Groups {
		l.checkers = append(l.checkers, app.NewChecker(app.Group(i), l.stream))
	}
	l.secondChecker = app.NewChecker(app.SecondGroup, l.second)
	var err error
	if l.senders, err = connect(ctx, c); err != nil {
		return nil, err
	}
	if l.takers, err = connect(ctx, c); err != nil {
		l.senders.Close()
		return nil, err
	}
	return l, nil
}

// connect opens a client. Statements stay prepared, because there is no pooler between.
func connect(ctx context.Context, c *app.Command) (*weir.Client, error) {
	if strings.HasPrefix(c.Target, "http") {
		transport := &http.Transport{MaxIdleConnsPerHost: 1024}
		return weir.NewHTTP(c.Target, &http.Client{Transport: transport})
	}
	u, err := url.Parse(c.Target)
	if err != nil {
		return nil, fmt.Errorf("read DSN: %w", err)
	}
	q := u.Query()
	q.Set("default_query_exec_mode", "cache_statement")
	q.Set("pool_max_conns", strconv.Itoa(c.Options.Connections))
	u.RawQuery = q.Encode()
	return weir.Connect(ctx, u.String())
}

func (l *load) close() {
	l.senders.Close()
	l.takers.Close()
}

// listen does what the driver says. When the driver is gone before the end, nobody is left to report to.
func (l *load) listen(lines *bufio.Scanner) {
	finishing := false
	for lines.Scan() {
		var a app.Answer
		switch line := lines.Text(); {
		case line == app.FinishLine:
			finishing = true
			l.stopSending()
			close(l.finish)
		case line == app.ShakenLine:
			l.shaken()
		case json.Unmarshal(lines.Bytes(), &a) == nil:
			l.answer(a)
		}
	}
	if !finishing {
		os.Exit(1)
	}
}

// ask returns whether a message is there whose send failed in a way that does not tell. The driver looks when the
// database is back.
func (l *load) ask(q app.Question) bool {
	answer := make(chan bool, 1)
	l.mu.Lock()
	l.asked++
	q.ID = l.asked
	l.open[q.ID] = answer
	l.mu.Unlock()
	if err := l.write(app.Event{Question: &q}); err != nil {
		l.failed("ask", err) // the driver is gone, and listen sees that
	}
	there := <-answer
	if there {
		l.found.Add(1)
	}
	return there
}

func (l *load) answer(a app.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waiting, ok := l.open[a.ID]; ok {
		delete(l.open, a.ID)
		waiting <- a.There
	}
}

func (l *load) stopSending() { l.stopOnce.Do(func() { close(l.stop) }) }

// run works until the driver says that it is over, and reports.
func (l *load) run(ctx context.Context) error {
	l.begin = time.Now()
	taking, endTaking := context.WithCancel(ctx)
	defer endTaking()
	var consumers, producers, ticking sync.WaitGroup
	for i, c := range l.checkers {
		consumers.Go(func() { l.consume(taking, taker{load: l, queue: app.Queue, group: i, checker: c}) })
	}
	consumers.Go(func() { l.consume(taking, taker{load: l, queue: app.SecondQueue, group: -1, checker: l.secondChecker}) })
	over := time.AfterFunc(l.o.Duration, l.stopSending)
	defer over.Stop()
	for i := range l.o.Producers {
		producers.Go(func() { l.produce(ctx, i) })
	}
	var seconds float64
	go func() {
		producers.Wait()
		seconds = time.Since(l.begin).Seconds()
		close(l.sent)
	}()
	quiet := make(chan struct{})
	ticking.Go(func() { l.tickAll(quiet) })
	<-l.sent
	<-l.finish
	endTaking()
	consumers.Wait()
	close(quiet)
	ticking.Wait()
	return l.report(seconds)
}

// tickAll writes a tick a second, and one when the producers have ended: there a backlog is largest.
func (l *load) tickAll(quiet <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	sent := l.sent
	for {
		select {
		case <-quiet:
			return
		case <-sent:
			sent = nil
		case <-ticker.C:
		}
		t := l.tick()
		t.Push, t.Delivery, t.Finish = l.push.Lap(), l.delivery.Lap(), l.finished.Lap()
		if err := l.write(app.Event{Tick: &t}); err != nil {
			return // the driver is gone, and listen sees that
		}
	}
}

func (l *load) tick() app.Tick {
	t := app.Tick{
		At: time.Since(l.begin).Seconds(), Pushing: true, Pushed: l.pushed.Load(), Second: l.secondChecker.Counts(),
		Commits: l.commits.Load(), Errors: l.failures.Load(), Lost: l.lost.Load(), Cut: l.cut.Load(),
		Found: l.found.Load(),
	}
	l.mu.Lock()
	t.Asked = l.asked
	l.mu.Unlock()
	select {
	case <-l.sent:
		t.Pushing = false
	default:
	}
	for _, c := range l.checkers {
		t.Groups = append(t.Groups, c.Counts())
	}
	return t
}

func (l *load) report(seconds float64) error {
	out := app.Outcome{Tick: l.tick(), Seconds: seconds, Sent: l.stream.Lengths(), Forwarded: l.second.Lengths()}
	out.Push, out.Delivery, out.Finish = l.push.Total(), l.delivery.Total(), l.finished.Total()
	for _, c := range l.all() {
		out.Findings = append(out.Findings, c.Finding())
	}
	l.mu.Lock()
	out.LastErrors = l.told
	l.mu.Unlock()
	return l.write(app.Event{Outcome: &out})
}

func (l *load) write(e app.Event) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// all are the checkers of all groups.
func (l *load) all() []*app.Checker { return append(slices.Clone(l.checkers), l.secondChecker) }

// errorsMax is how many failures are told in words.
const errorsMax = 20

// failed notes a call that failed. One whose claim had ended is counted apart: the machine was too slow for the lease,
// and the message comes again. So is one that failed because the database was away.
func (l *load) failed(doing string, err error) {
	switch {
	case errors.Is(err, weir.ErrClaimLost) || errors.Is(err, weir.ErrClaimExpired):
		l.lost.Add(1)
		return
	case away(err):
		l.cut.Add(1)
		l.shaken()
		return
	}
	l.failures.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) < errorsMax {
		l.told = append(l.told, doing+": "+err.Error())
	}
}

// shaken tells all checkers that calls may be lost.
func (l *load) shaken() {
	for _, c := range l.all() {
		c.Shaken(l.o.MaxAttempts)
	}
}

// away reports whether a call failed because the database, or the server before it, was not there or went away.
func away(err error) bool {
	switch code := weir.Code(err); code {
	case "57P01", "57P02", "57P03": // shut down, crashed, not ready yet
		return true
	default:
		return strings.HasPrefix(code, "08") || errors.Is(err, weir.ErrOutcomeUnknown)
	}
}
