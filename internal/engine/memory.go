package engine

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// queuesPerConn is how many queues one connection of the pool may use. Its backend keeps the plans of each queue's own
// functions, about 2 MB a queue, as long as it lives.
const queuesPerConn = 100

// boundMemory has the pool close a connection that has used more queues than max when it is given back.
func boundMemory(cfg *pgxpool.Config, limit int) {
	cfg.ConnConfig.Tracer = queueCounter{}
	cfg.AfterRelease = func(conn *pgx.Conn) bool { return len(queuesUsed(conn)) <= limit }
}

// ownPrefix is what the names of queues' own functions begin with, as in weir_internal."send:orders".
const ownPrefix = `weir_internal."`

// queueCounter notes which queues a connection was used for: what calls of the engine name first, or name the own
// functions of.
type queueCounter struct{}

func (queueCounter) TraceQueryStart(ctx context.Context, conn *pgx.Conn, call pgx.TraceQueryStartData) context.Context {
	if _, rest, own := strings.Cut(call.SQL, ownPrefix); own {
		_, queue, _ := strings.Cut(rest, ":")
		queue, _, _ = strings.Cut(queue, `"`)
		queuesUsed(conn)[queue] = struct{}{}
		return ctx
	}
	if len(call.Args) > 0 && (strings.Contains(call.SQL, "select weir.") || strings.Contains(call.SQL, "from weir.")) {
		if queue, ok := call.Args[0].(string); ok {
			queuesUsed(conn)[queue] = struct{}{}
		}
	}
	return ctx
}

func (queueCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// queuesUsed is the set that belongs to a connection.
func queuesUsed(conn *pgx.Conn) map[string]struct{} {
	const name = "weir queues"
	used, ok := conn.PgConn().CustomData()[name].(map[string]struct{})
	if !ok {
		used = map[string]struct{}{}
		conn.PgConn().CustomData()[name] = used
	}
	return used
}
