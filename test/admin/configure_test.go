package admin_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestConfigureQueueLeavesSendersAtWork(t *testing.T) {
	each(t, func(b bench) {
		ctx, stop := context.WithTimeout(b.Context(), 2*time.Second)
		defer stop()
		var sent atomic.Int64
		var senders sync.WaitGroup
		for range 3 {
			senders.Go(func() {
				for ctx.Err() == nil {
					_, err := b.db.Pool(b).Exec(b.Context(), "select weir.send($1, '1', key => md5(random()::text))", queue)
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
		for i := 0; ctx.Err() == nil; i++ { // nobody receives, and at most 16 numbers of lanes are looked into
			b.exec("select weir.configure_queue($1, message_bytes_max => $2, lanes => $3)", queue, 2048+i, 1+min(i, 12)%3)
		}
		senders.Wait()
		got := map[int64]bool{}
		for m := b.receive("default", 1000); len(m) > 0; m = b.receive("default", 1000) {
			for _, one := range m {
				got[one.ID] = true
			}
		}
		if len(got) != int(sent.Load()) {
			b.Errorf("received %d of %d", len(got), sent.Load())
		}
	})
}

func TestConfigureQueueChangesWhatItIsTold(t *testing.T) {
	each(t, func(b bench) {
		send := "select weir.send($1, to_jsonb(repeat('x', 3000)))"
		b.exec(send, queue)
		b.exec("select weir.configure_queue($1, message_bytes_max => 2048)", queue)
		b.fails("WR008", send, queue)
		b.exec("select weir.configure_queue($1, ttl => '1 day', dedup_window => '0', job_retention => '2 days')", queue)
		b.exec("select weir.configure_queue($1, lanes => 5, aging => '2 minutes')", queue)
		b.exec("select weir.configure_queue($1)", queue)
		got := pgtest.QueryVal[string](b, b.db, `select concat_ws(' ', lanes, message_bytes_max, ttl, dedup_window,
			job_retention, aging, log) from weir.list_queues()`)
		if got != "5 2048 1 day 2 days 00:02:00 main" {
			b.Errorf("the queue has %s", got)
		}
		for _, bad := range []string{
			"message_bytes_max => 1023", "lanes => 0", "lanes => 257", "ttl => '-1 s'", "aging => '-1 s'",
		} {
			b.fails("WR006", "select weir.configure_queue($1, "+bad+")", queue)
		}
		b.fails("WR001", "select weir.configure_queue('none')")
	})
}

// A key's messages are delivered in order to an ordered group whatever the number of lanes became meanwhile.
func TestANewNumberOfLanesKeepsWhatLiesInTheOldOnes(t *testing.T) {
	each(t, func(b bench) {
		var want []int64
		for _, lanes := range []int{16, 3, 1, 64} {
			b.exec("select weir.configure_queue($1, lanes => $2)", queue, lanes)
			want = append(want, pgtest.QueryAll[int64](b, b.db,
				"select weir.send($1, '1', key => 'k' || i) from generate_series(1, 10) i", queue)...)
		}
		b.wantIDs("default", want...)
	})
}

func TestConfigureGroupHoldsFromTheNextCallOn(t *testing.T) {
	each(t, func(b bench) {
		b.send(1)
		got := b.receive("default", 1)
		b.exec("select weir.configure_group($1, 'default', max_attempts => 2)", queue)
		b.exec("select weir.configure_group($1, 'default', backoff_min => '2 hours', backoff_max => '3 hours')", queue)
		b.wantCount(1, "select weir.nack($1, $2)", queue, got[0].ClaimID)
		b.clock.Advance(b, time.Hour)
		b.wantIDs("default")
		b.clock.Advance(b, 150*time.Minute)
		got = b.receive("default", 1)
		if len(got) != 1 {
			b.Fatal("not delivered again")
		}
		b.wantCount(1, "select weir.nack($1, $2)", queue, got[0].ClaimID)
		b.wantCount(1, "select count(*) from weir.dead_letters($1, 'default')", queue)
		for _, bad := range []string{"max_attempts => 0", "backoff_min => '4 hours'", "backoff_max => '1 hour'"} {
			b.fails("WR006", "select weir.configure_group($1, 'default', "+bad+")", queue)
		}
		b.fails("WR003", "select weir.configure_group($1, 'none')", queue)
		b.fails("WR001", "select weir.configure_group('none', 'none')")
		b.exec("select weir.create_group($1, 'o', ordered => true)", queue)
		b.fails("WR060", "select weir.configure_group($1, 'o', fair => true)", queue)
	})
}

func TestASettingThatIsNotNamedStaysAsItIs(t *testing.T) {
	each(t, func(b bench) {
		b.exec(`select weir.create_group($1, 'g', max_attempts => 7, backoff_min => '3 s', backoff_max => '4 s',
			concurrency_max => 8, key_concurrency_max => 2, fair => true)`, queue)
		shown := func() string {
			return pgtest.QueryVal[string](b, b.db, `select concat_ws(' ', max_attempts, backoff_min, backoff_max,
				coalesce(concurrency_max, -1), coalesce(key_concurrency_max, -1), fair)
				from weir.list_groups($1) where group_name = 'g'`, queue)
		}
		before := shown()
		b.exec("select weir.configure_group($1, 'g')", queue)
		if after := shown(); after != before || before != "7 00:00:03 00:00:04 8 2 t" {
			b.Errorf("%s became %s", before, after)
		}
		b.exec("select weir.configure_group($1, 'g', concurrency_max => 0)", queue)
		if after := shown(); after != "7 00:00:03 00:00:04 -1 2 t" {
			b.Errorf("the limit is lifted: %s", after)
		}
	})
}

func TestOfManyWhoMakeOneQueueOneMakesIt(t *testing.T) {
	each(t, func(b bench) {
		var made atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			conn := b.db.Conn(b)
			all.Go(func() {
				for i := range 20 {
					var is bool
					err := conn.QueryRow(b.Context(), "select weir.create_queue($1)", fmt.Sprintf("q%d", i)).Scan(&is)
					if err != nil {
						b.Error(err)
					} else if is {
						made.Add(1)
					}
				}
			})
		}
		all.Wait()
		if made.Load() != 20 {
			b.Errorf("%d were made, want 20", made.Load())
		}
		b.wantCount(21, "select count(*) from weir_internal.groups where name = 'default'")
	})
}

func TestWhoMakesAQueueBesideATransactionThatRollsBackMakesIt(t *testing.T) {
	each(t, func(b bench) {
		tx, err := b.db.Conn(b).Begin(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Exec(b.Context(), "select weir.create_queue('new', lanes => 2)"); err != nil {
			b.Fatal(err)
		}
		b.beside("select 1 / (weir.create_queue('new', lanes => 3))::int", func() {
			if err := tx.Rollback(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
		b.wantCount(3, "select lanes from weir.list_queues() where queue_name = 'new'")
		b.fails("WR002", "select weir.create_queue('new', lanes => 2)")
		if pgtest.QueryVal[bool](b, b.db, "select weir.create_queue('new', lanes => 3)") {
			b.Error("it was made again")
		}
	})
}

// Ten thousand queues are ordinary, also in one transaction, at PostgreSQL's own settings.
func TestTenThousandQueuesAreMadeInOneTransaction(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{}) // one version is enough, it takes long
	b := bench{T: t, db: db}
	b.exec(`do $$
		declare
			n int := 0;
		begin
			for i in 1 .. 10000 loop
				n := n + weir.create_queue('q' || i)::int;
			end loop;
			assert n = 10000;
		end $$`)
	b.wantCount(10000, "select count(*) from weir.list_queues()")
	took := pgtest.QueryVal[float64](b, b.db, `with t as materialized (
			select clock_timestamp() as t0, weir.create_queue('one' || i) from generate_series(1, 101) i offset 0)
		select coalesce(extract(epoch from percentile_cont(0.5) within group (order by d)) * 1000, 0)::float8
		from (select lead(t0) over (order by t0) - t0 as d from t) x where d is not null`)
	b.Logf("p50 of create_queue: %.3f ms", took)
	if took > 5 { // 1 ms, on a machine that is at work on something else
		b.Errorf("p50 of create_queue is %.3f ms beside 10,000 queues", took)
	}
	b.exec("select weir.send('q7777', '1')")
	got := pgtest.QueryAll[int](b, b.db, "select attempt from weir.receive('q7777')")
	if !slices.Equal(got, []int{1}) {
		b.Errorf("received %v", got)
	}
}
