package ordered_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// stormClient is a connection that comes back when it was killed, and some of whose statements are cancelled.
type stormClient struct {
	*storm
	*rand.Rand
	me   string
	conn *pgx.Conn
	tx   pgx.Tx              // null: each call by itself
	then []func(agreed bool) // what to note when it is known how the transaction ended
}

func (c *stormClient) chance(percent int) bool { return c.IntN(100) < percent }

// pause lasts shorter than most, and ends with the storm: part of the load, not a wait for anything.
func (c *stormClient) pause(most time.Duration) {
	waitFor(c.raging, time.Duration(c.Int64N(int64(most))))
}

func (c *stormClient) queue() string { return *c.name.Load() }

// ready connects if need be.
func (c *stormClient) ready() bool {
	if c.conn == nil || c.conn.IsClosed() {
		conn, err := pgx.Connect(context.Background(), c.db.DSN+"&application_name=storm")
		if err != nil {
			c.Errorf("connect: %v", err)
			return false
		}
		c.conn = conn
	}
	if pgtest.Pooled() {
		return true // a session's setting would meet whoever is served by that session next
	}
	timeout := "0"
	if c.chance(8) {
		timeout = strconv.Itoa(1 + c.IntN(8))
	}
	_, err := c.conn.Exec(context.Background(), "select set_config('statement_timeout', $1, false)", timeout)
	return err == nil
}

func (c *stormClient) close() {
	if c.conn != nil {
		c.conn.Close(context.Background()) //nolint:errcheck // it may be dead
	}
}

// begin begins a transaction, in some of a hundred cases.
func (c *stormClient) begin(percent int) error {
	if c.tx != nil || !c.chance(percent) {
		return nil
	}
	tx, err := c.conn.Begin(context.Background())
	if err == nil {
		c.tx = tx
	}
	return err
}

// on is what calls go through.
func (c *stormClient) on() surface.Conn {
	if c.tx != nil {
		return c.tx
	}
	return c.conn
}

// lost says that after this error nobody knows what was done.
func lost(err error) bool {
	return err != nil && (surface.SQLState(err) == "" || surface.SQLState(err) == "57P01")
}

// note has something noted when it is known whether a call counts.
func (c *stormClient) note(err error, then func(agreed bool)) {
	switch {
	case c.tx == nil && lost(err):
	case err != nil:
		then(false)
	case c.tx != nil:
		c.then = append(c.then, then)
	default:
		then(true)
	}
}

// end ends the transaction, when there is one.
func (c *stormClient) end(commit bool) {
	if c.tx == nil {
		return
	}
	then := c.then
	err := errors.New("rolled back")
	if commit {
		err = c.tx.Commit(context.Background())
		c.expected(err)
	} else {
		c.tx.Rollback(context.Background()) //nolint:errcheck // it may be dead
	}
	c.tx, c.then = nil, nil
	if commit && lost(err) && c.conn.IsClosed() {
		return // nobody knows
	}
	for _, note := range then {
		note(err == nil)
	}
}

// consume receives and settles as good and bad consumers do.
func (c *stormClient) consume() {
	for c.raging.Err() == nil {
		if c.ready() {
			c.round()
		}
	}
}

func (c *stormClient) round() {
	ctx := context.Background()
	if err := c.begin(25); err != nil { // receives in the transaction in which it works
		return
	}
	held := c.tx != nil
	most := 1 + c.IntN(20)
	if c.chance(10) {
		most = 500
	}
	asked := time.Now()
	got, err := surface.Receive(ctx, c.on(), c.queue(), group, most, lease.String())
	if err != nil || len(got) == 0 {
		c.end(err == nil)
		c.expected(err)
		c.pause(8 * time.Millisecond)
		return
	}
	all := c.parse(got)
	c.happened(all, "%s got, asked %.3f, held %t", c.me, asked.Sub(c.began).Seconds(), held)
	if !c.delivered(c.me, all, asked.Add(lease)) {
		c.end(true)
		return
	}
	c.deliveries.Add(int64(len(got)))
	if held { // nobody else sees it before the commit: until then there is nothing to hold
		for _, d := range all {
			c.release(c.me, d.key)
		}
	}
	if c.chance(5) {
		c.end(c.chance(50)) // as one that crashed
		return
	}
	if err := c.begin(30); err != nil {
		return
	}
	work := c.each
	if c.chance(40) {
		work = c.whole
	}
	err = work(all)
	c.end(err == nil && !c.chance(15))
	c.expected(err)
}

// finish makes a call that finishes messages.
func (c *stormClient) finish(messages []delivery, call surface.End, do func(surface.End) (int, error)) error {
	for _, d := range messages {
		c.ending(d)
	}
	n, err := do(call)
	c.happened(messages, "%s %s: %d %v, in tx %t", c.me, call.Verb, n, err, c.tx != nil)
	if err == nil && n != len(messages) {
		c.wrong("%s finished %d of %v", c.me, n, messages)
	}
	c.note(err, func(agreed bool) {
		for _, d := range messages {
			c.finished(d, agreed)
		}
		c.happened(messages, "%s agreed %t", c.me, agreed)
	})
	return err
}

// settle makes a call in one way or another.
func (c *stormClient) settle(messages []delivery, call surface.End) error {
	do := func(e surface.End) (int, error) { return e.Alone(context.Background(), c.on(), c.queue()) }
	if c.chance(30) {
		do = func(e surface.End) (int, error) { return e.ByMany(context.Background(), c.on(), c.queue()) }
	}
	for _, d := range messages {
		c.release(c.me, d.key)
	}
	if call.Verb == "ack" || call.Verb == "reject" {
		return c.finish(messages, call, do)
	}
	_, err := do(call)
	c.happened(messages, "%s %s: %v", c.me, call.Verb, err)
	return err
}

// fate is how a delivery ends.
func (c *stormClient) fate(nack, release, reject int) surface.End {
	switch x := c.IntN(100); {
	case x < nack:
		return surface.End{Verb: "nack", Delay: surface.Text(fmt.Sprint(c.IntN(90), " ms"))}
	case x < nack+release:
		return surface.End{Verb: "release"}
	case x < nack+release+reject:
		return surface.End{Verb: "reject"}
	default:
		return surface.End{Verb: "ack"}
	}
}

// whole ends each claim of a receive at once, or all of them.
func (c *stormClient) whole(got []delivery) error {
	if c.chance(8) {
		c.pause(700 * time.Millisecond)
	}
	claims := map[int64][]delivery{}
	var order []int64
	for _, d := range got {
		if claims[d.claim] == nil {
			order = append(order, d.claim)
		}
		claims[d.claim] = append(claims[d.claim], d)
		c.release(c.me, d.key)
	}
	if c.chance(40) {
		return c.together(got, claims, order)
	}
	for _, claim := range order {
		call := c.fate(25, 5, 5)
		call.Claim = claim
		if err := c.settle(claims[claim], call); err != nil {
			return err
		}
	}
	return nil
}

// together acknowledges all claims in one call; what that leaves to calls of their own is forgotten.
func (c *stormClient) together(got []delivery, claims map[int64][]delivery, order []int64) error {
	for _, d := range got {
		c.ending(d)
	}
	counts, err := surface.AckMany(context.Background(), c.on(), c.queue(), order)
	c.happened(got, "%s ack_many: %v %v, in tx %t", c.me, counts, err, c.tx != nil)
	for i, n := range counts {
		if n >= 0 && n != len(claims[order[i]]) {
			c.wrong("%s finished %d of %v", c.me, n, claims[order[i]])
		}
	}
	c.note(err, func(agreed bool) {
		for i, claim := range order {
			for _, d := range claims[claim] {
				c.finished(d, agreed && counts[i] >= 0)
			}
		}
	})
	return err
}

// each ends each message; once one of a key is given back, the rest of that key is not touched.
func (c *stormClient) each(got []delivery) error {
	givenBack := map[string]bool{}
	left := map[string]int{}
	for _, d := range got {
		left[d.key]++
	}
	for _, d := range got {
		if givenBack[d.key] {
			continue
		}
		if c.chance(1) { // slow: past the group's patience, sometimes past the lease
			c.pause(600 * time.Millisecond)
		}
		if c.chance(2) {
			_, err := surface.Extend(context.Background(), c.on(), c.queue(), d.claim, lease.String())
			if err != nil {
				return err
			}
		}
		call := c.fate(6, 0, 3)
		call.Claim, call.IDs = d.claim, []int64{d.id}
		left[d.key]--
		if err := c.one(d, call, left[d.key] == 0); err != nil {
			return err
		}
		givenBack[d.key] = call.Verb == "nack"
	}
	return nil
}

// one ends one message; the key is held until the last of it, or until it is given back.
func (c *stormClient) one(d delivery, call surface.End, last bool) error {
	do := func(e surface.End) (int, error) { return e.Alone(context.Background(), c.on(), c.queue()) }
	if last || call.Verb == "nack" {
		return c.settle([]delivery{d}, call)
	}
	return c.finish([]delivery{d}, call, do)
}
