// Package concurrency_test runs producers and consumers against one queue for some seconds, cancels and kills them at
// random points, turns the rings all the while, and counts afterwards: 0 lost, 0 given to two at a time, 0 phantoms.
package concurrency_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	queue     = "load"
	producers = 4
	consumers = 3 // a group
	leaseTime = 600 * time.Millisecond
)

// load is one run. Payloads are numbers that each stand for one send, whether or not its transaction committed.
type load struct {
	tb     testing.TB
	db     *pgtest.DB
	groups []string

	number atomic.Int64 // the last payload

	mu                    sync.Mutex
	committed             map[string]bool            // payload: its transaction committed
	unknown               map[string]bool            // payload: the connection was lost in commit
	ackedBy               map[string]map[string]bool // group, payload
	held                  map[string]map[string]hold // group, payload: who was delivered it last
	failures              []string
	history               map[string][]string // group and payload: what was done, for a failure
	deliveries, cancelled int
}

// hold is a delivery. Its holder may believe in it until the end, which is counted from before the receive began.
type hold struct {
	claim   int64
	attempt int
	until   time.Time
	done    bool
}

func newLoad(tb testing.TB, db *pgtest.DB, groups ...string) *load {
	tb.Helper()
	l := &load{
		tb: tb, db: db, groups: groups, committed: map[string]bool{}, unknown: map[string]bool{},
		ackedBy: map[string]map[string]bool{}, held: map[string]map[string]hold{}, history: map[string][]string{},
	}
	for _, g := range groups {
		l.ackedBy[g], l.held[g] = map[string]bool{}, map[string]hold{}
	}
	return l
}

// happened notes what was done with messages of a group; mu is held.
func (l *load) happened(group string, messages []surface.Message, what string, args ...any) {
	for _, m := range messages {
		key := group + " " + m.Payload
		at := time.Now().Format("05.000 ")
		l.history[key] = append(l.history[key],
			fmt.Sprintf("%s%s [claim %d, attempt %d]", at, fmt.Sprintf(what, args...), m.ClaimID, m.Attempt))
	}
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.failures) < 20 {
		l.failures = append(l.failures, fmt.Sprintf(format, args...))
	}
}

// pause lets a random time pass, up to most: part of the load, not a wait for anything.
func pause(ctx context.Context, most time.Duration) {
	select {
	case <-time.After(rand.N(most)): //nolint:gosec // chance, not a secret
	case <-ctx.Done():
	}
}

func chance(percent int) bool { return rand.IntN(100) < percent } //nolint:gosec // likewise

// client is a connection that comes back when it was killed.
type client struct {
	l    *load
	conn *pgx.Conn
}

// use runs a step on the client's connection; cancelled and killed ones are part of the load.
func (c *client) use(step func(conn *pgx.Conn) error) {
	ctx := context.Background() // a step is not torn by the end of the run
	if c.conn == nil || c.conn.IsClosed() {
		config, err := pgx.ParseConfig(c.l.db.DSN)
		if err != nil {
			c.l.fail("connect: %v", err)
			return
		}
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
			if n.Severity == "WARNING" && strings.HasPrefix(n.Message, "maintain:") {
				c.l.fail("%s", n.Message)
			}
		}
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			c.l.fail("connect: %v", err)
			return
		}
		c.conn = conn
	}
	timeout := "0"
	if chance(5) && !pgtest.Pooled() {
		timeout = strconv.Itoa(1 + rand.IntN(4)) //nolint:gosec // likewise
	}
	if _, err := c.conn.Exec(ctx, "select set_config('statement_timeout', $1, false)", timeout); err == nil {
		err = step(c.conn)
		c.l.expected(err)
	}
	if !c.conn.IsClosed() && c.conn.PgConn().TxStatus() != 'I' {
		c.conn.Exec(ctx, "rollback") //nolint:errcheck // it may be dead
	}
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close(context.Background()) //nolint:errcheck // done with it
	}
}

// expected fails the run unless an error is one that being cancelled or killed explains.
func (l *load) expected(err error) {
	switch surface.SQLState(err) {
	case "":
		if err != nil && !errors.Is(err, context.Canceled) {
			l.mu.Lock()
			l.cancelled++ // the connection is gone
			l.mu.Unlock()
		}
	case "57014", "57P01", "25P02":
		l.mu.Lock()
		l.cancelled++
		l.mu.Unlock()
	default:
		l.fail("call failed: %v", err)
	}
}

// produce sends until ctx ends: some messages a transaction, some under savepoints that are rolled back.
func (l *load) produce(ctx context.Context) {
	c := client{l: l}
	for ctx.Err() == nil {
		c.use(func(conn *pgx.Conn) error { return l.sendSome(ctx, conn) })
		pause(ctx, 12*time.Millisecond)
	}
}

func (l *load) sendSome(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(context.Background())
	if err != nil {
		return err
	}
	var kept []string
	for range 1 + rand.IntN(4) { //nolint:gosec // chance
		inner := tx
		savepoint := chance(25)
		if savepoint {
			if inner, err = tx.Begin(context.Background()); err != nil {
				return err
			}
		}
		sent, err := l.sendOne(inner)
		if err != nil {
			return err
		}
		if savepoint && chance(50) {
			if err := inner.Rollback(context.Background()); err != nil {
				return err
			}
			sent = nil
		} else if savepoint {
			if err := inner.Commit(context.Background()); err != nil {
				return err
			}
		}
		kept = append(kept, sent...)
		if chance(30) {
			pause(ctx, 5*time.Millisecond)
		}
	}
	if chance(15) {
		return tx.Rollback(context.Background())
	}
	return l.commit(tx, kept)
}

// commit commits, and notes what is now owed. What it cannot know, it marks so.
func (l *load) commit(tx pgx.Tx, payloads []string) error {
	l.mu.Lock()
	for _, p := range payloads {
		l.unknown[p] = true
	}
	l.mu.Unlock()
	err := tx.Commit(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range payloads {
		switch {
		case err == nil:
			l.committed[p] = true
			delete(l.unknown, p)
		case !tx.Conn().IsClosed():
			delete(l.unknown, p) // it said no: rolled back
		}
	}
	return err
}

func (l *load) sendOne(tx pgx.Tx) ([]string, error) {
	n := 1
	if chance(50) {
		n = 1 + rand.IntN(40) //nolint:gosec // chance
	}
	var payloads []string
	var keys []*string
	for range n {
		payloads = append(payloads, strconv.FormatInt(l.number.Add(1), 10))
		keys = append(keys, surface.Text(strconv.Itoa(rand.IntN(30)))) //nolint:gosec // chance
	}
	var delay *string
	if chance(10) {
		delay = surface.Text(strconv.Itoa(rand.IntN(200)) + " ms") //nolint:gosec // chance
	}
	if n == 1 {
		_, err := surface.Send(context.Background(), tx, queue, payloads[0], nil, nil, delay)
		return payloads, err
	}
	if chance(50) {
		keys = nil
	}
	_, err := surface.SendBatch(context.Background(), tx, queue, payloads, keys, nil, delay)
	return payloads, err
}

// consume receives for a group and settles, until done says that all is settled.
func (l *load) consume(group string, done func() bool) {
	c := client{l: l}
	for !done() {
		c.use(func(conn *pgx.Conn) error { return l.receiveSome(conn, group) })
		pause(l.tb.Context(), 2*time.Millisecond)
	}
	c.close()
}

func (l *load) receiveSome(conn *pgx.Conn, group string) error {
	ctx := context.Background()
	began := time.Now()
	lease := strconv.FormatInt(leaseTime.Milliseconds(), 10) + " ms"
	batchMax := 1 // goes a way of its own
	if chance(60) {
		batchMax += rand.IntN(200) //nolint:gosec // chance
	}
	got, err := surface.Receive(ctx, conn, queue, group, batchMax, lease)
	if err != nil {
		return err
	}
	if !l.delivered(group, got, began) {
		return nil // as a client that crashed
	}
	claims := map[int64][]surface.Message{}
	for _, m := range got {
		claims[m.ClaimID] = append(claims[m.ClaimID], m)
	}
	if chance(20) {
		if err := l.ackTogether(conn, group, claims); err != nil {
			return err
		}
	}
	for claim, messages := range claims {
		if chance(4) {
			continue // as a client that crashed: the lease ends
		}
		if chance(2) {
			pause(ctx, leaseTime*5/4)
		}
		if err := l.settle(conn, group, claim, messages); err != nil {
			return err
		}
	}
	return nil
}

// delivered notes and checks what one receive returned, and reports whether that is certainly still leased: an answer
// that the machine held up for longer says nothing about who has the messages now.
func (l *load) delivered(group string, got []surface.Message, began time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(began) >= leaseTime {
		return false
	}
	l.deliveries += len(got)
	l.happened(group, got, "received, asked at %s", began.Format("05.000"))
	for _, m := range got {
		before, ok := l.held[group][m.Payload]
		reason := ""
		switch {
		case l.ackedBy[group][m.Payload]:
			reason = "after it was acknowledged"
		case ok && !before.done && time.Now().Before(before.until):
			reason = fmt.Sprintf("during claim %d", before.claim)
		case ok && m.Attempt <= before.attempt:
			reason = fmt.Sprintf("after attempt %d", before.attempt)
		}
		if reason != "" {
			l.failures = append(l.failures, fmt.Sprintf("%s was delivered %v %s:\n\t%s", group, m, reason,
				strings.Join(l.history[group+" "+m.Payload], "\n\t")))
		}
		l.held[group][m.Payload] = hold{claim: m.ClaimID, attempt: m.Attempt, until: began.Add(leaseTime)}
	}
	return true
}

func (l *load) settle(conn *pgx.Conn, group string, claim int64, messages []surface.Message) error {
	ctx := context.Background()
	if chance(30) { // some of it in a transaction that is rolled back, or one by one
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		_, err = surface.Ack(ctx, tx, queue, claim, surface.IDs(messages[:1]))
		if err == nil {
			pause(ctx, 3*time.Millisecond)
		}
		if err := errors.Join(err, tx.Rollback(ctx)); err != nil {
			return l.late(err)
		}
	}
	if chance(10) {
		call := surface.End{Verb: "nack", Claim: claim}
		if chance(50) {
			call.Delay = surface.Text("0")
		} else if chance(40) {
			call.Verb = "release"
		}
		l.givingBack(group, messages, call.Verb == "release")
		_, err := l.end(conn, call)
		l.mu.Lock()
		l.happened(group, messages, "%s (%v)", call.Verb, err)
		l.mu.Unlock()
		return l.late(err)
	}
	half := rand.IntN(len(messages) + 1) //nolint:gosec // chance
	if half > 0 && half < len(messages) {
		if err := l.ack(conn, group, claim, surface.IDs(messages[:half]), messages[:half]); err != nil {
			return err
		}
		messages = messages[half:]
	}
	return l.ack(conn, group, claim, nil, messages)
}

// end makes a call by itself or through those for many.
func (l *load) end(conn *pgx.Conn, call surface.End) (int, error) {
	if chance(30) {
		return call.ByMany(context.Background(), conn, queue)
	}
	return call.Alone(context.Background(), conn, queue)
}

// givingBack lets messages be delivered again from now on, by a release without another attempt.
func (l *load) givingBack(group string, messages []surface.Message, unused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		h := l.held[group][m.Payload]
		if h.claim == m.ClaimID {
			h.done = true
			if unused {
				h.attempt--
			}
			l.held[group][m.Payload] = h
		}
	}
}

// ackTogether acknowledges all claims of a receive in one call, and takes those that it did out of the list.
func (l *load) ackTogether(conn *pgx.Conn, group string, claims map[int64][]surface.Message) error {
	list := slices.Collect(maps.Keys(claims))
	if len(list) == 0 {
		return nil
	}
	counts, err := surface.AckMany(context.Background(), conn, queue, list)
	for i, n := range counts {
		if n >= 0 {
			l.acked(group, list[i], n, claims[list[i]])
			delete(claims, list[i])
		}
	}
	return err
}

func (l *load) ack(conn *pgx.Conn, group string, claim int64, ids []int64, messages []surface.Message) error {
	n, err := l.end(conn, surface.End{Verb: "ack", Claim: claim, IDs: ids})
	if err != nil {
		l.mu.Lock()
		l.happened(group, messages, "ack failed: %v", err)
		l.mu.Unlock()
		return l.late(err)
	}
	l.acked(group, claim, n, messages)
	return nil
}

// acked notes and checks that an ack finished n messages of a claim, which were these.
func (l *load) acked(group string, claim int64, n int, messages []surface.Message) {
	if n != len(messages) {
		l.fail("ack of claim %d finished %d of %v", claim, n, messages)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.happened(group, messages, "acked (%d)", n)
	for _, m := range messages {
		if h := l.held[group][m.Payload]; h.claim != claim {
			l.failures = append(l.failures, fmt.Sprintf("claim %d finished %v, which claim %d was given", claim, m, h.claim))
		}
		l.ackedBy[group][m.Payload] = true
	}
}

// late takes the answer that the lease is over for no error.
func (l *load) late(err error) error {
	if surface.SQLState(err) == "WR010" {
		return nil
	}
	return err
}

// settled says whether every group has acknowledged every message that was committed, and knows of it.
func (l *load) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.groups {
		for p := range l.committed {
			if !l.ackedBy[g][p] {
				return false
			}
		}
	}
	return true
}

// verdict compares what was acknowledged with what was sent. An ack whose answer was lost leaves a message that neither
// comes again nor counts here, so what is missing is asked of the engine.
func (l *load) verdict(missing map[string][]string) {
	l.tb.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.groups {
		for p := range l.ackedBy[g] {
			if !l.committed[p] && !l.unknown[p] {
				l.failures = append(l.failures, fmt.Sprintf("%s was delivered %s, which was never committed", g, p))
			}
		}
		if len(missing[g]) > 0 {
			l.failures = append(l.failures, fmt.Sprintf("%s was never delivered %d messages: %v ...", g,
				len(missing[g]), missing[g][:min(len(missing[g]), 20)]))
		}
	}
	for _, f := range l.failures[:min(len(l.failures), 20)] {
		l.tb.Error(f)
	}
	l.tb.Logf("%d committed, %d deliveries, %d cancelled", len(l.committed), l.deliveries, l.cancelled)
}

// undelivered returns what a group was never even delivered.
func (l *load) undelivered(group string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for p := range l.committed {
		if _, ok := l.held[group][p]; !ok {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}
