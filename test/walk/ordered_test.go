package walk_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/oracle"
	"github.com/weirmq/weir/test/surface"
)

// TestRandomWalkOfOrderedGroups walks with one session, so that a seed tells all that happens, through what its callers
// can do to ordered groups, and what administers a queue.
func TestRandomWalkOfOrderedGroups(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		far(t, major, 2)
		db := pgtest.New(t, pgtest.Options{Major: major})
		clock := surface.StoppedClock(t, db)
		conn := db.Conn(t)
		walks := 0
		rapid.Check(t, func(rt *rapid.T) {
			walks++
			w := newWalk(t, rt, db, clock, []*pgx.Conn{conn}, walks)
			w.exec(rt, conn, "select setseed($1)", rapid.Float64Range(0, 1).Draw(rt, "seed"))
			w.each(func() {
				w.ordered = true
				w.groups = nil
				w.createGroup(rt)
			})
			actions := w.actions()
			delete(actions, "kill")
			maps.Copy(actions, w.onASide(map[string]func(*rapid.T){
				"receive again": w.receive, "settle again": w.settle, "settle and again": w.settle, "ttl": w.ttl,
				"seek": w.seek, "purge": w.purge, "cancel": w.cancel, "stats": w.stats, "lanes": w.lanes,
			}))
			rt.Repeat(actions)
			if s := w.oracle.Sessions[0]; s.Open {
				w.exec(rt, conn, "commit")
				w.eachSession(s, (*oracle.Session).Commit)
			}
			w.each(func() { w.setTTL(rt, 0) })
			w.finish(rt)
		})
	})
}

// alone skips what shall not be done in a transaction that may be rolled back.
func (w *walk) alone(rt *rapid.T) {
	if w.oracle.Sessions[0].Open {
		rt.Skip("in a transaction")
	}
}

// lanes changes the number of lanes of a queue.
func (w *walk) lanes(rt *rapid.T) {
	w.alone(rt)
	lanes := rapid.SampledFrom([]int{1, 2, 3, 16}).Draw(rt, "lanes")
	w.exec(rt, w.conns[0], "select weir.configure_queue($1, lanes => $2)", w.queue, lanes)
}

// ttl has messages older than 160 minutes dropped, or not.
func (w *walk) ttl(rt *rapid.T) {
	w.alone(rt)
	w.setTTL(rt, rapid.SampledFrom([]time.Duration{0, 0, 160 * time.Minute}).Draw(rt, "ttl"))
}

func (w *walk) setTTL(rt *rapid.T, ttl time.Duration) {
	w.exec(rt, w.conns[0], "select weir.configure_queue($1, ttl => $2::text::interval)", w.queue, ttl.String())
	w.oracle.World.PassedOver(w.now) // what was committed since the time moved may have been dropped by the ttl before
	w.oracle.World.TTL = ttl
	w.oracle.World.PassedOver(w.now)
}

// seek goes to a place in the log. There are no dead letters then, of which some would be delivered once more.
func (w *walk) seek(rt *rapid.T) {
	w.alone(rt)
	group := w.group(rt)
	to := rapid.SampledFrom([]string{"no", "start", "start", "end"}).Draw(rt, "to")
	if to == "no" {
		rt.Skip("not this time")
	}
	w.exec(rt, w.conns[0], "select weir.seek($1, $2, $3)", w.queue, group, to)
	w.exec(rt, w.conns[0], "select weir.discard($1, $2)", w.queue, group)
	w.oracle.World.Moved(group, to == "start")
}

func (w *walk) purge(rt *rapid.T) {
	w.alone(rt)
	group := w.group(rt)
	if rapid.IntRange(0, 2).Draw(rt, "purge") > 0 {
		rt.Skip("not this time")
	}
	w.exec(rt, w.conns[0], "select weir.purge($1, $2)", w.queue, group)
	w.exec(rt, w.conns[0], "select weir.discard($1, $2)", w.queue, group)
	w.oracle.World.Moved(group, false)
}

// cancel cancels one of the last messages.
func (w *walk) cancel(rt *rapid.T) {
	w.alone(rt)
	ids := slices.Sorted(maps.Keys(w.oracle.World.Messages))
	if len(ids) == 0 {
		rt.Skip("no message")
	}
	id := ids[len(ids)-1-rapid.IntRange(0, min(19, len(ids)-1)).Draw(rt, "message")]
	var was string
	w.note(rt, w.conns[0].QueryRow(w.tb.Context(), "select weir.cancel($1, $2)", w.queue, id).Scan(&was))
	if was != "ended" {
		w.oracle.World.Cancelled(id)
	}
}

// stats compares how many messages a group has still to finish, in whichever state, as far as that is known.
func (w *walk) stats(rt *rapid.T) {
	w.alone(rt)
	group := w.group(rt)
	least, most, known := w.oracle.World.Depth(group, w.now)
	if !known {
		rt.Skip("it is not known")
	}
	var n int
	w.note(rt, w.conns[0].QueryRow(w.tb.Context(), `select waiting + claimed + delayed + parked from weir.stats($1)
		where group_name = $2`, w.queue, group).Scan(&n))
	if n < least || n > most {
		rt.Fatalf("group %s has %d messages to finish, stats says %d", group, most, n)
	}
}
