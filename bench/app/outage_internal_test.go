package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
)

// TestAProbeTellsWhatWasSentAlsoOfWhatEverybodyHasFinished looks as a run does for a send whose answer was lost.
func TestAProbeTellsWhatWasSentAlsoOfWhatEverybodyHasFinished(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	r := &run{conn: db.Conn(t)}
	db.Exec(t, "select weir.configure_log('main', retention => '1 hour')")
	db.Exec(t, "select weir.create_queue('app')")
	want := map[Place]bool{}
	for session := range 20 {
		p := Place{Session: session, Seq: int64(session % 3)}
		want[p] = true
		db.Exec(t, fmt.Sprintf(`select weir.send('app', '{"session": %d, "seq": %d}', key => 's%d')`, p.Session, p.Seq,
			p.Session))
	}
	for len(pgtest.QueryAll[int64](t, db, "select id from weir.pop('app', max => 100)")) > 0 {
	}
	db.Exec(t, "select weir.create_group('app', 'probe')") // that an earlier one left when the server was killed
	for range 2 {
		there, err := r.probe(t.Context(), Queue, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(there) != fmt.Sprint(want) {
			t.Errorf("there are %v, want %v", there, want)
		}
	}
	if n := pgtest.QueryVal[int64](t, db, "select count(*) from weir.list_groups('app')"); n != 1 {
		t.Errorf("%d groups are left", n)
	}
}
