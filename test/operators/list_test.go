package operators_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// TestLookingPassesOverAQueueThatIsDroppedMeanwhile has the gates that a grantee asks for a queue come and go as they
// do with it: between the look for one and its call, too.
func TestLookingPassesOverAQueueThatIsDroppedMeanwhile(t *testing.T) {
	each(t, func(b bench) {
		role := b.db.Role(b)
		b.db.Exec(b, "select weir.create_queue('going')")
		b.db.Exec(b, "select weir.grant_consume(q, $1) from unnest(array['jobs', 'going']) q", role)
		for _, list := range []string{
			"select queue_name from weir.list_queues() where queue_name = $1",
			"select coalesce(string_agg(s::text, ' '), $1) from weir.list_schedules() s",
			"select queue_name from weir.stats() where queue_name = $1",
			"select coalesce(string_agg(f::text, ' '), $1) from weir.doctor() f where severity = 'error'",
		} {
			gone := make(chan error, 1)
			owner := b.db.Conn(b)
			go func() {
				_, err := owner.Exec(b.Context(), `do $$
					begin
						for i in 1 .. 20 loop
							perform weir.drop_queue('going');
							commit;
							perform weir.create_queue('going');
							perform weir.grant_consume('going', '`+role+`');
							commit;
						end loop;
					end
					$$`)
				gone <- err
			}()
			for conn, ended := b.db.As(b, role), false; !ended; {
				select {
				case err := <-gone:
					if err != nil {
						b.Fatal(err)
					}
					ended = true
				default:
				}
				var found string
				if err := conn.QueryRow(b.Context(), list, queue).Scan(&found); err != nil || found != queue {
					b.Fatalf("%s: %s, %v", list, found, err)
				}
			}
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir.stats()"); n != 2 {
			b.Errorf("%d queues are left", n)
		}
	})
}

// A log comes and goes while its owner looks: nothing fails, and what is gone is not found wanting.
func TestLookingPassesOverALogThatIsDroppedMeanwhile(t *testing.T) {
	each(t, func(b bench) {
		for _, look := range []string{
			"select coalesce(string_agg(f::text, ' '), '') from weir.doctor() f where severity = 'error'",
			"select coalesce(string_agg(s::text, ' '), '') from weir.stats() s where log <> 'main'",
		} {
			gone := make(chan error, 1)
			owner := b.db.Conn(b)
			go func() {
				_, err := owner.Exec(b.Context(), `do $$
					begin
						for i in 1 .. 10 loop
							perform weir.create_log('going');
							commit;
							perform weir.drop_log('going');
							commit;
						end loop;
					end
					$$`)
				gone <- err
			}()
			for conn, ended := b.db.Conn(b), false; !ended; {
				select {
				case err := <-gone:
					if err != nil {
						b.Fatal(err)
					}
					ended = true
				default:
				}
				var found string
				if err := conn.QueryRow(b.Context(), look).Scan(&found); err != nil || found != "" {
					b.Fatalf("%s: %s, %v", look, found, err)
				}
			}
		}
	})
}
