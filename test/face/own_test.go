package face_test

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// What a transaction sends it cannot receive itself, also when a later transaction has committed meanwhile, and it is
// delivered once to others, whether or not that receive was rolled back.
func TestATransactionThatHasSentReceivesWhatOthersSent(t *testing.T) {
	t.Parallel()
	const receive = "select coalesce(array_agg(payload::text), '{}') from weir.receive('q', max => $1)"
	for name, c := range map[string]struct {
		others []string // sent by others while the transaction is open
		end    string
		later  []string // what others are delivered afterwards
	}{
		"nobody sends, commit":   {nil, "commit", []string{"1"}},
		"nobody sends, rollback": {nil, "rollback", nil},
		"others send, commit":    {[]string{"2", "3"}, "commit", []string{"1"}},
		"others send, rollback":  {[]string{"2", "3"}, "rollback", []string{"2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, most := range []int{1, 10} {
				surface.Each(t, "q", "", func(t *testing.T, db *pgtest.DB) {
					db.Exec(t, "select weir.send('q', '0')")
					db.Exec(t, "select weir.pop('q')") // from now on receives are plain
					tx, err := db.As(t, pgtest.Owner).Begin(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if _, err := tx.Exec(t.Context(), "select weir.send('q', '1')"); err != nil {
						t.Fatal(err)
					}
					for _, payload := range c.others {
						db.Exec(t, "select weir.send('q', $1)", payload)
					}
					var within []string
					for range 3 {
						var got []string
						if err := tx.QueryRow(t.Context(), receive, most).Scan(&got); err != nil {
							t.Fatal(err)
						}
						within = append(within, got...)
					}
					if !slices.Equal(within, c.others) {
						t.Errorf("the transaction received %v, want %v", within, c.others)
					}
					if _, err := tx.Exec(t.Context(), c.end); err != nil {
						t.Fatal(err)
					}
					if got := pgtest.QueryVal[[]string](t, db, receive, 10); !slices.Equal(got, c.later) {
						t.Errorf("others received %v, want %v", got, c.later)
					}
				})
			}
		})
	}
}
