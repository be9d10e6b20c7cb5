package load

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weirmq/weir/bench/app"
	weir "github.com/weirmq/weir/sdk/go"
)

// taker is a group's consumers.
type taker struct {
	*load

	queue   string
	group   int // -1: the second queue's
	checker *app.Checker
}

func (t taker) name() string {
	if t.group < 0 {
		return app.SecondGroup
	}
	return app.Group(t.group)
}

func (t taker) handlers() int {
	if t.group < 0 {
		return t.o.SecondConsumers
	}
	return t.o.Consumers
}

// consume works until ctx ends and everything that was begun is settled.
func (l *load) consume(ctx context.Context, t taker) {
	if l.o.Acks == app.AcksEach {
		t.loops(ctx)
		return
	}
	worker := weir.NewWorker(l.takers, t.queue, t.handle, weir.WorkerOptions{
		Group: t.name(), Concurrency: t.handlers(), Prefetch: l.o.ReceiveBatch, Lease: l.o.Lease,
		StopTimeout: l.o.Lease, OnError: func(m *weir.RawMessage, err error) {
			if m == nil {
				l.failed("work in "+t.name(), err)
			} else if !errors.Is(err, errTransient) && !away(err) { // forward tells of that
				l.failed("handle in "+t.name(), err)
			}
		},
	})
	if err := worker.Run(ctx); err != nil {
		l.failed("start worker of "+t.name(), err)
	}
}

// handle works on one message: it takes its time, fails or not, and forwards what is to be forwarded.
func (t taker) handle(ctx context.Context, m *weir.Message[app.Body]) error {
	p := app.Place{Session: m.Payload.Session, Seq: m.Payload.Seq}
	if m.Key != app.Key(p.Session) {
		p.Session = -1 // of another's key
	}
	if !t.checker.Begin(p, m.Attempt) {
		return nil
	}
	planned := time.Unix(0, m.Payload.At)
	if m.Attempt == 1 && t.group >= 0 {
		t.delivery.Add(time.Since(planned))
	}
	err := t.work(ctx, m, p)
	switch {
	case err == nil:
		t.checker.End(p, m.Attempt, app.Done)
		if t.group >= 0 {
			t.finished.Add(time.Since(planned))
		}
	case m.Attempt >= t.o.MaxAttempts && errors.Is(err, errTransient):
		t.checker.End(p, m.Attempt, app.Dead)
	default:
		t.checker.End(p, m.Attempt, app.Failed)
	}
	return err
}

func (t taker) work(ctx context.Context, m *weir.Message[app.Body], p app.Place) error {
	if t.group < 0 {
		return sleep(ctx, t.o.SecondWork)
	}
	if err := sleep(ctx, t.chance.Work(t.group, p.Session, p.Seq, m.Attempt)); err != nil {
		return err
	}
	if t.chance.Fails(t.group, p.Session, p.Seq, m.Attempt) {
		return errTransient
	}
	if t.chance.Forwards(t.group, p.Session, p.Seq) {
		return t.forward(ctx, m, p)
	}
	return nil
}

// forward acks the message and sends it to the second queue, in one transaction.
func (t taker) forward(ctx context.Context, m *weir.Message[app.Body], p app.Place) error {
	t.forwarding[p.Session].Lock()
	defer t.forwarding[p.Session].Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx) // the message came again while this one waited
	}
	t.checker.Acking(p, m.Attempt)
	began := time.Now()
	seq := t.second.Announce(p.Session, 1)
	err := t.takers.Transaction(ctx, func(tx *weir.Client) error {
		if _, err := tx.Ack(ctx, t.queue, m); err != nil {
			return err
		}
		body := app.Body{At: time.Now().UnixNano(), Session: p.Session, Seq: seq, Origin: p.Seq}
		_, err := tx.Send(ctx, app.SecondQueue, body, weir.Key(m.Key))
		return err
	})
	if err == nil {
		t.commits.Add(1)
		return nil
	}
	if away(err) {
		t.failed("forward", err)
		sent := app.Place{Session: p.Session, Seq: seq}
		if t.ask(app.Question{Place: sent, Queue: app.SecondQueue, Began: began}) {
			t.commits.Add(1)
			return nil
		}
	}
	t.second.Withdraw(p.Session, 1)
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// loops are consumers of the program's own: each receives a batch, works on its keys side by side and on each key's
// messages in turn, and acks every message by a call.
func (t taker) loops(ctx context.Context) {
	var all sync.WaitGroup
	for range t.handlers() {
		all.Go(func() {
			for ctx.Err() == nil {
				t.loop(ctx)
			}
		})
	}
	all.Wait()
}

func (t taker) loop(ctx context.Context) {
	messages, err := t.takers.Receive(ctx, t.queue, weir.InGroup(t.name()), weir.Max(t.o.ReceiveBatch),
		weir.Lease(t.o.Lease), weir.Wait(t.o.Wait))
	if err != nil {
		if ctx.Err() == nil {
			t.failed("receive of "+t.name(), err)
			_ = sleep(ctx, time.Second) // ends early with ctx, which the caller looks at
		}
		return
	}
	lines := map[string][]*weir.RawMessage{}
	for _, m := range messages {
		lines[m.Key] = append(lines[m.Key], m)
	}
	var keys sync.WaitGroup
	for _, line := range lines {
		keys.Go(func() { t.one(context.WithoutCancel(ctx), line) })
	}
	keys.Wait()
}

// one works on a key's messages until one fails: those behind it come again with it.
func (t taker) one(ctx context.Context, line []*weir.RawMessage) {
	for _, raw := range line {
		m, err := weir.Decode[app.Body](raw)
		if err == nil {
			err = t.handle(ctx, m)
		}
		if err == nil {
			t.settle("ack", func() error { return m.Ack(ctx) })
			continue
		}
		t.settle("nack", func() error { return raw.Nack(ctx, weir.Reason(err.Error())) })
		return
	}
}

// settleAgain is how long settle waits before it makes a call again.
const settleAgain = 100 * time.Millisecond

// settle makes a call, which may be done twice, until the database is there to do it.
func (t taker) settle(verb string, call func() error) {
	err := call()
	for ; away(err); err = call() {
		t.failed(verb+" in "+t.name(), err)
		time.Sleep(settleAgain)
	}
	if err != nil {
		t.failed(verb+" in "+t.name(), err)
	}
}
