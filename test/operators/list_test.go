package operators_test

import "testing"

// TestListsPassOverAQueueThatIsDroppedMeanwhile has the functions that are asked for a queue come and go as they do
// with it: between the look for one and its call, too.
func TestListsPassOverAQueueThatIsDroppedMeanwhile(t *testing.T) {
	each(t, "1", func(b bench) {
		for _, list := range []string{
			"select count(*) from weir.list_queues() where queue_name = $1",
			"select count(*) + 1 from weir.list_schedules() where queue_name = $1",
		} {
			b.db.Exec(b, "select weir.create_queue('going')")
			gone := make(chan error, 1)
			owner := b.db.Conn(b)
			go func() {
				_, err := owner.Exec(b.Context(), `do $$
					declare
						v_functions text := 'weir_internal."describe:going"(), weir_internal."schedules:going"()';
						v_describe text := pg_get_functiondef('weir_internal."describe:going"()'::regprocedure);
						v_schedules text := pg_get_functiondef('weir_internal."schedules:going"()'::regprocedure);
					begin
						for i in 1 .. 1000 loop
							execute 'drop function ' || v_functions;
							commit;
							execute v_describe;
							execute v_schedules;
							commit;
						end loop;
					end
					$$`)
				gone <- err
			}()
			for conn, ended := b.db.Super(b), false; !ended; {
				select {
				case err := <-gone:
					if err != nil {
						b.Fatal(err)
					}
					ended = true
				default:
				}
				var n int
				if err := conn.QueryRow(b.Context(), list, queue).Scan(&n); err != nil || n != 1 {
					b.Fatalf("%s: %d, %v", list, n, err)
				}
			}
			b.db.Exec(b, "select weir.drop_queue('going')")
		}
	})
}
