package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// fire fires what is due and returns how many jobs that were.
func (b bench) fire() int {
	b.Helper()
	return pgtest.QueryVal[int](b, b.db, "select weir.fire_schedules()")
}

// due takes all jobs and returns the due times in their headers, ascending.
func (b bench) due() []string {
	b.Helper()
	return pgtest.QueryAll[string](b, b.db,
		"select headers #>> '{schedule,due}' from weir.pop('jobs', max => 10000) order by 1")
}

// toMinute moves the clock to a second past a full minute, which it returns.
func (b bench) toMinute() time.Time {
	b.Helper()
	now := pgtest.QueryVal[time.Time](b, b.db, "select weir_internal.clock()")
	minute := now.Truncate(time.Minute).Add(time.Minute)
	b.clock.Advance(b, minute.Add(time.Second).Sub(now))
	return minute
}

func TestEachDueTimeIsFiredOnceHoweverManyFire(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		start := b.toMinute()
		for i := range 10 {
			b.db.Exec(b, "select weir.schedule($1, 'jobs', 'k', cron => '* * * * *')", fmt.Sprintf("s%d", i))
		}
		b.db.Exec(b, "create table got (name text, due timestamptz)")
		for range 5 {
			b.clock.Advance(b, time.Minute)
			var workers sync.WaitGroup
			for i := range 6 {
				workers.Go(func() {
					call := []string{"select weir.fire_schedules()", "select weir.fire_schedules() from generate_series(1, 2)"}[i%2]
					if _, err := b.db.Pool(b).Exec(b.Context(), call); err != nil {
						b.Errorf("fire: %v", err)
					}
				})
			}
			workers.Wait()
			b.db.Exec(b, `insert into got select headers #>> '{schedule,name}', (headers #>> '{schedule,due}')::timestamptz
				from weir.pop('jobs', max => 1000)`)
		}
		got := pgtest.QueryAll[string](b, b.db, `select due || ' ' || count(*) || ' ' || count(distinct name) from got
			group by due order by due`)
		var want []string
		for i := range 5 {
			at := start.Add(time.Duration(i+1) * time.Minute)
			want = append(want, pgtest.QueryVal[string](b, b.db, "select $1::timestamptz || ' 10 10'", at))
		}
		if !slices.Equal(got, want) {
			b.Errorf("fired\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestAFiringThatRollsBackIsFiredAgain(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		b.toMinute()
		b.db.Exec(b, "select weir.schedule('s', 'jobs', 'k', cron => '* * * * *')")
		b.clock.Advance(b, time.Minute)
		conn := b.db.Conn(b)
		b.exec(conn, "begin")
		b.exec(conn, "select weir.fire_schedules()")
		if n := b.fire(); n != 0 {
			b.Errorf("fired %d while another transaction does", n)
		}
		b.exec(conn, "rollback")
		if n := b.fire(); n != 1 {
			b.Errorf("fired %d after the rollback", n)
		}
		if n := b.fire(); n != 0 || len(b.due()) != 1 {
			b.Errorf("fired %d once more", n)
		}
	})
}

func TestMissedTimesAreTreatedAsAsked(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		for missed, want := range map[string]int{"skip": 1, "once": 2, "all": 60} {
			b.toMinute()
			b.db.Exec(b, "select weir.schedule('s', 'jobs', 'k', cron => '* * * * *', missed => $1)", missed)
			b.clock.Advance(b, time.Hour)
			b.fire()
			if got := b.due(); len(got) != want || slices.Compare(got, slices.Compact(slices.Clone(got))) != 0 {
				b.Errorf("%s: fired for %v, want %d times", missed, got, want)
			}
			if n := b.fire(); n != 0 {
				b.Errorf("%s: fired %d more", missed, n)
			}
			b.clock.Advance(b, time.Minute)
			if n := b.fire(); n != 1 {
				b.Errorf("%s: fired %d a minute later", missed, n)
			}
			b.due()
			b.db.Exec(b, "select weir.unschedule('s')")
		}
		b.toMinute()
		b.db.Exec(b, "select weir.schedule('s', 'jobs', 'k', missed => 'all', every => '1 hour')")
		b.clock.Advance(b, 1500*time.Hour)
		if first, second, third := b.fire(), b.fire(), b.fire(); first != 1000 || second != 500 || third != 0 {
			b.Errorf("fired %d, %d and %d of 1,500 that were missed", first, second, third)
		}
	})
}

func TestIntervalsDoNotDrift(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		first := pgtest.QueryVal[time.Time](b, b.db,
			"select weir.schedule('s', 'jobs', 'k', every => '90 seconds')")
		for i := range 4 {
			b.clock.Advance(b, 100*time.Second)
			b.fire()
			b.db.Exec(b, "select weir.schedule('s', 'jobs', 'k2', every => '90 seconds')") // a program starts
			at := pgtest.QueryVal[time.Time](b, b.db, "select last_at from weir.list_schedules()")
			if late := at.Sub(first); late%(90*time.Second) != 0 || late < time.Duration(i)*90*time.Second {
				b.Errorf("fired for %s after the first", late)
			}
		}
	})
}

func TestASchedulesLife(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		b.toMinute()
		b.db.Exec(b, "select weir.create_queue('other')")
		add := `select weir.schedule('s', 'jobs', 'k', '{"a": 1}', cron => '* * * * *',
			time_zone => 'Europe/Berlin', key => 'x',
			headers => '{"h": 1}', tracked => true, is_unique => true)`
		b.db.Exec(b, add)
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.schedule('s', 'other', 'k', cron => '@daily')")
		surface.WantState(b, err, "WR054")
		b.clock.Advance(b, time.Minute)
		if n := b.fire(); n != 1 {
			b.Fatalf("fired %d", n)
		}
		got := pgtest.QueryVal[string](b, b.db, `select concat_ws(' ', s.kind, s.args, s.key, s.time_zone, s.missed, s.paused,
			s.next_at - s.last_at, j.state, s.error) from weir.list_schedules('jobs') s, weir.job('jobs', s.last_id) j`)
		if got != `k {"a": 1} x Europe/Berlin skip f 00:01:00 waiting` {
			b.Errorf("listed as %s", got)
		}
		b.clock.Advance(b, time.Minute)
		if b.fire(); len(b.due()) != 1 {
			b.Error("a unique job was enqueued beside another")
		}
		b.db.Exec(b, "select weir.pause_schedule('s')")
		b.clock.Advance(b, time.Hour)
		b.db.Exec(b, add)
		if n := b.fire(); n != 0 {
			b.Errorf("fired %d in the pause", n)
		}
		b.db.Exec(b, "select weir.resume_schedule('s')")
		if n := b.fire(); n != 0 {
			b.Errorf("made up for %d after the pause", n)
		}
		b.db.Exec(b, "update weir_internal.queues set name = 'work' where name = 'jobs'")
		b.clock.Advance(b, time.Minute)
		if n := b.fire(); n != 1 {
			b.Errorf("fired %d into the renamed queue", n)
		}
		if !pgtest.QueryVal[bool](b, b.db, "select weir.unschedule('s')") ||
			pgtest.QueryVal[bool](b, b.db, "select weir.unschedule('s')") {
			b.Error("unschedule does not say whether it was there")
		}
		b.db.Exec(b, "select weir.schedule('t', 'work', 'k', cron => '@hourly')")
		b.db.Exec(b, "delete from weir_internal.queues where name = 'work'")
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_internal.schedules"); n != 0 {
			b.Errorf("%d schedules of a queue that was dropped", n)
		}
	})
}

func TestAScheduleThatCannotBeFiredSaysWhyAndHoldsUpNoOther(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		b.toMinute()
		b.db.Exec(b, "select weir.create_queue('other')")
		b.db.Exec(b, `select weir.schedule('a' || i, 'jobs', 'k', '"a long text"', cron => '* * * * *', missed => 'all')
			from generate_series(1, 120) i`) // more than one call fires
		b.db.Exec(b, "select weir.schedule('b', 'other', 'k', cron => '* * * * *')")
		b.db.Exec(b, "update weir_internal.queues set message_bytes_max = 20 where name = 'jobs'")
		b.db.Exec(b, "update weir_internal.schedules set next_at = next_at - interval '1 second' where name <> 'b'")
		b.clock.Advance(b, time.Minute)
		b.fire()
		b.fire()
		fired := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.list_schedules('other') where last_id is not null")
		if fired != 1 {
			b.Errorf("fired %d, want the one that can be", fired)
		}
		if n := b.fire(); n != 0 {
			b.Errorf("fired %d that cannot be", n)
		}
		got := pgtest.QueryAll[string](b, b.db, "select distinct left(name, 1) || ' ' || coalesce(left(error, 5), '') "+
			"from weir.list_schedules() order by 1")
		if !slices.Equal(got, []string{"a WR008", "b "}) {
			b.Errorf("errors are %q", got)
		}
		b.db.Exec(b, "update weir_internal.queues set message_bytes_max = 1024 where name = 'jobs'")
		for range 40 {
			b.fire()
		}
		left := pgtest.QueryVal[int](
			b, b.db, "select count(*) from weir.list_schedules() where error is not null or last_id is null")
		if left != 0 {
			b.Errorf("%d were not fired when they could be", left)
		}
	})
}
