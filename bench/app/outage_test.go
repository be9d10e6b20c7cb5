package app_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/bench/app"
)

// TestARunGoesOnWhenPostgreSQLIsKilledAndAccountsForEveryMessage kills the server while producers, consumers and
// forwards are at work.
func TestARunGoesOnWhenPostgreSQLIsKilledAndAccountsForEveryMessage(t *testing.T) {
	t.Parallel()
	weir := program(t)
	for _, c := range []struct{ via, acks string }{
		{app.ViaSQL, app.AcksGathered}, {app.ViaHTTP, app.AcksGathered}, {app.ViaSQL, app.AcksEach},
	} {
		t.Run(c.via+" "+c.acks, func(t *testing.T) {
			t.Parallel()
			o := small(app.Balanced)
			o.Via, o.Acks, o.Program = c.via, c.acks, weir
			o.KillPostgres, o.Retention = time.Second, time.Hour // the whole log is read back
			o.Lease = 3 * time.Second                            // that what a killed receive has claimed comes soon
			o.Rate, o.PushBatch, o.ForwardPercent = 60, 4, 50
			r, err := app.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Kills == 0 {
				t.Error("PostgreSQL was not killed")
			}
			for i, g := range r.Audit.Groups[:2] {
				if f := r.Outcome.Findings[i]; g.Sent != messages || g.Acked+g.Dead != messages || g.Left != 0 || f.Faults != 0 {
					t.Errorf("group %s: %+v, found %+v", g.Group, g, f)
				}
			}
			logs := r.Audit.Logs
			if !r.Drained || logs[0].Messages != messages || logs[0].Whole != logs[0].Sessions ||
				logs[1].Messages != r.Outcome.Commits {
				t.Errorf("drained %v, %d were forwarded, the logs have %+v", r.Drained, r.Outcome.Commits, logs)
			}
			t.Logf("%d kills, %d calls cut off, %d sends unknown, %d of them there", r.Kills, r.Outcome.Cut, r.Outcome.Asked,
				r.Outcome.Found)
		})
	}
}
