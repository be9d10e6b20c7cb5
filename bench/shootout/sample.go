package shootout

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// sampleEvery is how often storage is looked at.
const sampleEvery = 500 * time.Millisecond

// spaceText reads the sizes of everything that belongs to the system, which is all that the database holds.
const spaceText = `select coalesce(sum(pg_table_size(c.oid)), 0)::bigint,
	coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint,
	coalesce(sum(pg_stat_get_dead_tuples(c.oid)), 0)::bigint
	from pg_class c
	where c.relkind in ('r', 'm')
		and c.relnamespace not in (select oid from pg_namespace where nspname in ('pg_catalog', 'information_schema'))`

// sample notes storage and progress until the function that it returns is called.
func (r *run) sample(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	began := r.start // late consumers have a start of their own
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		var conn *pgx.Conn
		defer func() {
			if conn != nil {
				_ = conn.Close(context.WithoutCancel(ctx)) // nothing is left to say
			}
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			var err error
			if conn == nil || conn.IsClosed() {
				if conn, err = pgx.Connect(ctx, r.dsn); err != nil {
					conn = nil // a server that is down has no sizes
					continue
				}
			}
			s := Sample{At: time.Since(began).Seconds(), Done: r.received()}
			if conn.QueryRow(ctx, spaceText).Scan(&s.TableBytes, &s.IndexBytes, &s.Dead) == nil {
				r.result.Samples = append(r.result.Samples, s)
			}
			if pid := r.server.postmaster(); pid > 0 {
				_, bytes := serverUsage(pid)
				r.result.ServerMB = max(r.result.ServerMB, float64(bytes)/(1<<20))
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
