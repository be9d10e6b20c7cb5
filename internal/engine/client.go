package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Querier is what a pgx pool, connection and transaction have in common and all that a Client needs.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Begin(ctx context.Context) (pgx.Tx, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Client calls the engine's functions through a pool, a connection or a transaction.
type Client struct {
	q    Querier
	pool *pgxpool.Pool // nil when the Querier belongs to the caller
}

// New returns a Client over q. Closing q stays with the caller.
func New(q Querier) *Client { return &Client{q: q} }

// Options say how Open connects. The zero value suits any server and any pooler.
type Options struct {
	// AppName is what pg_stat_activity shows, unless the DSN names another.
	AppName string
	// Direct says that no pooler stands between, so that statements may stay prepared on the connections.
	Direct bool
	// Later opens without looking whether the database answers: the calls tell.
	Later bool
	// MaxConns limits the pool when it is above 0 and the DSN has no pool_max_conns.
	MaxConns int
	// ConnectTimeout limits one attempt to connect when the DSN has no connect_timeout; 0 means 5 seconds.
	ConnectTimeout time.Duration
}

// Open connects to the database of a DSN (a URL or key=value words) and checks that it answers, unless told to do it
// later.
func Open(ctx context.Context, dsn string, opt Options) (*Client, error) {
	cfg, err := poolConfig(dsn, opt)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, wrap("open database", err)
	}
	if opt.Later {
		return &Client{q: pool, pool: pool}, nil
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, convert(err)
	}
	return &Client{q: pool, pool: pool}, nil
}

// poolConfig reads the DSN and fills in what it leaves open.
func poolConfig(dsn string, opt Options) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, &Error{
			Code: codeBadDSN, Name: "invalid_dsn", Status: 400, Message: "cannot read the DSN: " + parseReason(err),
			Hint: "A DSN looks like postgres://user:password@host:5432/database or host=... dbname=... user=...", err: err,
		}
	}
	if !strings.Contains(dsn, "default_query_exec_mode") {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		if opt.Direct {
			cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		}
	}
	if !strings.Contains(dsn, "connect_timeout") {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
		if opt.ConnectTimeout > 0 {
			cfg.ConnConfig.ConnectTimeout = opt.ConnectTimeout
		}
	}
	if opt.MaxConns > 0 && !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = int32(min(opt.MaxConns, 1<<15))
	}
	if _, named := cfg.ConnConfig.RuntimeParams["application_name"]; !named && opt.AppName != "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = opt.AppName
	}
	return cfg, nil
}

// parseReason keeps what is wrong with a DSN and drops the DSN itself, which may hold a password.
func parseReason(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "`: "); i >= 0 {
		return text[i+len("`: "):]
	}
	return "it is not in a form that libpq knows"
}

// Close ends the connections that Open made. It does nothing for a Client made by New.
func (c *Client) Close() {
	if c.pool != nil {
		c.pool.Close()
	}
}

// InTx runs fn with a Client whose calls share one transaction, committed when fn returns nil and rolled back
// otherwise. When the commit itself fails the outcome is unknown, and the error says so.
func (c *Client) InTx(ctx context.Context, fn func(tx *Client) error) error {
	tx, err := c.q.Begin(ctx)
	if err != nil {
		return wrap("begin transaction", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := fn(&Client{q: tx}); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, wrap("commit transaction", err))
	}
	return nil
}
