package ordered_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// storm is a run in which all that callers can do to an ordered group happens at once, in transactions that are held
// open, rolled back, cancelled and killed, while the queue is renamed, its rings turn and another group comes and goes.
type storm struct {
	*testing.T
	*checker
	db     *pgtest.DB
	seed   uint64
	name   atomic.Pointer[string] // the queue's
	raging context.Context        //nolint:containedctx // while it lasts
	began  time.Time

	history    map[string][]string     // of each message
	owing      map[string]map[int]bool // key -> seqs that are committed
	refused    map[string]int          // SQLSTATE -> how often
	deliveries atomic.Int64
}

// stormSpan is how long a storm lasts; WEIR_TEST_STORM=5m and the like make it longer.
func stormSpan(t *testing.T, major int) time.Duration {
	t.Helper()
	if text := os.Getenv("WEIR_TEST_STORM"); text != "" {
		span, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("WEIR_TEST_STORM: %v", err)
		}
		return span
	}
	if major == 14 || major == 18 {
		return 6 * time.Second
	}
	return 2 * time.Second
}

// TestEachKeyIsSeenInOrderThroughAStorm lets a storm pass, and has plain workers finish what it left: nothing is lost,
// finished twice, out of order, or stays behind.
func TestEachKeyIsSeenInOrderThroughAStorm(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		create(t, db, 3, "max_attempts => 1000, backoff_min => '10 ms', backoff_max => '60 ms', patience => '100 ms'")
		db.Exec(t, "select weir.drop_group($1, 'default')", queue)
		db.Exec(t, "update weir_internal.queues set segment_bytes = 24576, claims_bytes = 32768")
		raging, stop := context.WithTimeout(t.Context(), stormSpan(t, major))
		defer stop()
		s := &storm{
			T: t, checker: newChecker(), db: db, seed: uint64(major), raging: raging, began: time.Now(),
			history: map[string][]string{}, owing: map[string]map[int]bool{}, refused: map[string]int{},
		}
		name := queue
		s.name.Store(&name)
		s.rage()
		s.drain()
		s.verdict()
	})
}

// rage has them all at work until the storm is over.
func (s *storm) rage() {
	var all sync.WaitGroup
	client := func(n int, what string, do func(c *stormClient)) {
		c := &stormClient{storm: s, Rand: rand.New(rand.NewPCG(s.seed, uint64(n))), me: fmt.Sprint(what, " ", n)}
		all.Go(func() {
			defer c.close()
			do(c)
		})
	}
	for n := range 4 {
		hold := 10 * time.Millisecond
		if n == 3 {
			hold = 2 * time.Second
		}
		client(n, "producer", func(c *stormClient) { c.produce(n, hold) })
	}
	for n := range 5 {
		client(10+n, "consumer", (*stormClient).consume)
	}
	for n := range 2 {
		client(20+n, "beside", (*stormClient).beside)
		client(30+n, "operator", func(c *stormClient) { c.operate(n > 0) })
	}
	if !pgtest.Pooled() { // by PgBouncer's sessions it would meet the test's own calls
		client(40, "trouble", (*stormClient).disturb)
	}
	all.Wait()
}

// happened notes what was done with messages, for a failure.
func (s *storm) happened(got []delivery, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Since(s.began).Seconds()
	for _, d := range got {
		m := fmt.Sprint(d.key, " ", d.seq)
		s.history[m] = append(s.history[m], fmt.Sprintf("%.3f %v %s", at, d, fmt.Sprintf(format, args...)))
	}
}

// expected counts an error, and fails the test on one that nothing explains.
func (s *storm) expected(err error, also ...string) {
	if err == nil {
		return
	}
	state := surface.SQLState(err)
	s.mu.Lock()
	s.refused[state]++
	s.mu.Unlock()
	for _, other := range append(also, "", "57014", "57P01", "25P02", "WR001", "WR010") {
		if state == other {
			return
		}
	}
	s.Errorf("%v", err)
}

func (s *storm) wrong(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breach(format, args...)
}

// finished notes how an attempt to finish a message ended.
func (s *storm) finished(d delivery, agreed bool) {
	s.mu.Lock()
	twice := agreed && s.state[d.key][d.seq].done
	s.mu.Unlock()
	if twice {
		s.wrong("%v was finished twice", d)
	}
	s.ended(d, agreed)
}

func (s *storm) parse(got []surface.Message) []delivery {
	all := make([]delivery, 0, len(got))
	for _, m := range got {
		var body struct {
			Key string
			Seq int
		}
		if err := json.Unmarshal([]byte(m.Payload), &body); err != nil {
			s.Error(err)
		}
		all = append(all, delivery{id: m.ID, claim: m.ClaimID, key: body.Key, seq: body.Seq})
	}
	return all
}

// produce sends some calls a transaction; hold is how long one is open at most.
func (c *stormClient) produce(me int, hold time.Duration) {
	next := map[string]int{}
	late := 0
	for c.raging.Err() == nil {
		c.pause(250 * time.Millisecond)
		if !c.ready() || c.begin(100) != nil {
			continue
		}
		got := map[string][]int{}
		var err error
		for range 1 + c.IntN(3) {
			if err = c.send(me, next, got, &late); err != nil {
				break
			}
		}
		if err == nil {
			c.pause(hold)
		}
		known := false
		c.then = append(c.then, func(agreed bool) {
			known = true
			if agreed {
				c.owe(next, got, true)
			}
		})
		c.end(err == nil && !c.chance(15))
		c.expected(err)
		if !known {
			c.owe(next, got, false)
		}
	}
}

// send sends one message or some, now and then for later: those have seqs below 0, since no order is promised of them.
func (c *stormClient) send(me int, next map[string]int, got map[string][]int, late *int) error {
	var payloads []string
	var keys []*string
	var delay *string
	n := 1
	if c.chance(10) {
		n = 1 + c.IntN(40)
	}
	if c.chance(10) {
		delay = surface.Text(fmt.Sprint(c.IntN(300), " ms"))
	}
	for range n {
		key := fmt.Sprintf("p%d-%d", me, int(c.ExpFloat64()*6))
		seq := next[key] + 1
		for _, other := range got[key] {
			seq = max(seq, other+1)
		}
		if delay != nil {
			*late--
			seq = *late
		}
		got[key] = append(got[key], seq)
		payloads = append(payloads, fmt.Sprintf(`{"key":%q,"seq":%d}`, key, seq))
		keys = append(keys, &key)
	}
	var err error
	if n == 1 {
		_, err = surface.Send(context.Background(), c.tx, c.queue(), payloads[0], keys[0], nil, delay)
	} else {
		_, err = surface.SendBatch(context.Background(), c.tx, c.queue(), payloads, keys, nil, delay)
	}
	return err
}

// owe notes what is committed for certain, or perhaps.
func (s *storm) owe(next map[string]int, got map[string][]int, certain bool) {
	for key, seqs := range got {
		for _, seq := range seqs {
			if !certain {
				s.ending(delivery{key: key, seq: seq})
			}
			s.mu.Lock()
			next[key] = max(next[key], seq)
			if s.owing[key] == nil {
				s.owing[key] = map[int]bool{}
			}
			s.owing[key][seq] = true
			s.mu.Unlock()
		}
	}
}

// beside works at a group that is dropped and made again all the while.
func (c *stormClient) beside() {
	ctx := context.Background()
	for c.raging.Err() == nil {
		c.pause(4 * time.Millisecond)
		if !c.ready() || c.begin(40) != nil {
			continue
		}
		got, err := surface.Receive(ctx, c.on(), c.queue(), "side", 1+c.IntN(50), lease.String())
		if err == nil && len(got) > 0 && c.begin(50) == nil {
			call := surface.End{Verb: []string{"ack", "nack", "reject", "release"}[c.IntN(4)], Claim: got[0].ClaimID}
			if c.chance(50) {
				call.IDs = []int64{got[0].ID}
			}
			if c.chance(50) {
				call.Delay = surface.Text("0")
			}
			_, err = call.ByMany(ctx, c.on(), c.queue())
			if c.chance(30) {
				c.pause(300 * time.Millisecond)
			}
		}
		c.end(err == nil && c.chance(80))
		c.expected(err, "WR003", "WR009")
	}
}

// operate maintains; it also drops a group and makes it, renames the queue and changes settings, unless it only
// maintains.
func (c *stormClient) operate(only bool) {
	ctx := context.Background()
	for c.raging.Err() == nil {
		c.pause(60 * time.Millisecond)
		if !c.ready() {
			continue
		}
		q := c.queue()
		var err error
		switch x := c.IntN(100); {
		case only && x < 10:
			if err = c.begin(100); err == nil {
				_, err = surface.Maintain(ctx, c.tx)
				c.pause(100 * time.Millisecond)
			}
			c.end(false)
		case only || x < 55:
			_, err = surface.Maintain(ctx, c.conn)
		case x < 65:
			_, err = c.conn.Exec(ctx, "select weir.drop_group($1, 'side')", q)
		case x < 85:
			_, err = c.conn.Exec(ctx, "select weir.create_group($1, 'side', ordered => $3, start => $2, patience => '50 ms')",
				q, []string{"start", "start", "end"}[c.IntN(3)], c.chance(70))
		case x < 92:
			_, err = c.conn.Exec(ctx, "select weir.configure_group($1, $2, patience => $3::text::interval)",
				q, group, []string{"0", "100 ms", "1 second"}[c.IntN(3)])
		default:
			err = c.rename(q)
		}
		c.expected(err, "WR002", "WR003", "WR004", "55P03")
	}
}

func (c *stormClient) rename(from string) error {
	_, err := c.conn.Exec(context.Background(), "select weir.rename_queue($1, $2)",
		from, "orders-"+strconv.Itoa(c.IntN(1000)))
	c.whoAmI() // it may have been done before it was cancelled
	return err
}

// whoAmI asks for the queue's name.
func (s *storm) whoAmI() {
	name := pgtest.QueryVal[string](s, s.db, "select name from weir_internal.queues")
	s.name.Store(&name)
}

// disturb cancels statements and ends sessions at random.
func (c *stormClient) disturb() {
	conn := c.db.Super(c)
	for c.raging.Err() == nil {
		how := "pg_cancel_backend"
		if c.chance(30) {
			how = "pg_terminate_backend"
		}
		_, err := conn.Exec(context.Background(), "select "+how+`(pid) from (select pid from pg_stat_activity
			where application_name = 'storm' and datname = current_database()
				and (state <> 'idle' or random() < 0.1) order by random() limit 1) t`)
		if err != nil {
			c.Errorf("disturb: %v", err)
		}
		c.pause(400 * time.Millisecond)
	}
}

// drain has plain workers finish what the storm left, under leases that do not end.
func (s *storm) drain() {
	began := time.Now()
	s.whoAmI()
	at := s.left()
	calm, stop := context.WithCancel(s.Context())
	defer stop()
	var workers sync.WaitGroup
	for n := range 2 {
		workers.Go(func() { s.work(calm, fmt.Sprint("worker ", n)) })
	}
	workers.Go(func() {
		conn := s.db.Conn(s)
		for calm.Err() == nil {
			if _, err := surface.Maintain(context.Background(), conn); err != nil {
				s.Errorf("maintain: %v", err)
			}
			waitFor(calm, 20*time.Millisecond)
		}
	})
	s.Logf("left by the storm: %d", at)
	least, since := at, time.Now()
	for left := at; left > 0 && !s.Failed(); left = s.left() {
		if left < least {
			least, since = left, time.Now()
		}
		if time.Since(since) > 3*time.Minute {
			s.Errorf("of %d messages that the storm left %d are left, and become no fewer", at, least)
		}
		waitFor(calm, 50*time.Millisecond)
	}
	stop()
	workers.Wait()
	s.Logf("finished in %s", time.Since(began))
}

func (s *storm) left() int64 {
	return pgtest.QueryVal[int64](s, s.db, `select (waiting + claimed + delayed + parked)::bigint
		from weir.stats($1) where group_name = $2`, *s.name.Load(), group)
}

func (s *storm) work(calm context.Context, me string) {
	const long = time.Hour
	ctx, conn := context.Background(), s.db.Conn(s)
	for calm.Err() == nil {
		asked := time.Now()
		got, err := surface.Receive(ctx, conn, *s.name.Load(), group, 100, long.String())
		if err != nil {
			s.Errorf("receive: %v", err)
			return
		}
		if len(got) == 0 {
			waitFor(calm, 5*time.Millisecond)
			continue
		}
		all := s.parse(got)
		s.happened(all, "%s got", me)
		s.delivered(me, all, asked.Add(long))
		for _, d := range all {
			s.ending(d)
		}
		for _, d := range all {
			s.release(me, d.key)
			n, err := surface.Ack(ctx, conn, *s.name.Load(), d.claim, []int64{d.id})
			if err != nil || n != 1 {
				s.Errorf("ack of %v: %d, %v", d, n, err)
			}
			s.finished(d, err == nil && n == 1)
		}
	}
}

func (s *storm) verdict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.breaches {
		s.Error(b)
	}
	total, unknown := 0, 0
	for key, seqs := range s.owing {
		for seq := range seqs {
			total++
			if state := s.state[key][seq]; state.open() {
				s.breach("%v was lost", delivery{key: key, seq: seq})
				s.Errorf("%s %d was lost", key, seq)
			} else if !state.done {
				unknown++
			}
		}
	}
	for m, list := range s.history {
		for _, b := range s.breaches {
			if strings.Contains(b, "{"+m+" ") {
				s.Logf("%s:\n\t%s", m, strings.Join(list, "\n\t"))
				break
			}
		}
	}
	s.Logf("%d messages of %d keys, %d deliveries; of %d nobody knows; refused %v",
		total, len(s.owing), s.deliveries.Load(), unknown, s.refused)
	const ofNone = `select count(*) from weir_internal.q1_parked
		where abs(group_id) not in (select id from weir_internal.groups)`
	if n := pgtest.QueryVal[int](s, s.db, ofNone); n > 0 {
		s.Errorf("%d rows are parked for groups that are no more", n)
	}
}
