package weir

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier is what a pgx pool, connection and transaction have in common, and all that a Client needs of them.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Begin(ctx context.Context) (pgx.Tx, error)
}

// SQLQuerier is what *sql.DB, *sql.Conn and *sql.Tx of database/sql have in common.
type SQLQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// executor runs statements. Arguments are int, int64, string, *string, []int64, []string and []*string: what every
// driver and every way of running a statement can pass, for the statements cast each parameter.
type executor interface {
	// query calls row once for each row of the result.
	query(ctx context.Context, text string, args []any, row func(scan func(fields ...any) error) error) error
}

// pgxExecutor runs statements with pgx.
type pgxExecutor struct{ Querier }

func (x pgxExecutor) query(
	ctx context.Context, text string, args []any, row func(scan func(fields ...any) error) error,
) error {
	rows, err := x.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// sqlExecutor runs statements with any driver of database/sql.
type sqlExecutor struct{ SQLQuerier }

func (x sqlExecutor) query(
	ctx context.Context, text string, args []any, row func(scan func(fields ...any) error) error,
) error {
	plain := make([]any, len(args))
	for i, arg := range args {
		plain[i] = plainArg(arg)
	}
	rows, err := x.QueryContext(ctx, text, plain...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// plainArg turns lists, which not every driver knows, into PostgreSQL's text form of an array.
func plainArg(arg any) any {
	switch list := arg.(type) {
	case []int64:
		if list == nil {
			return nil
		}
		return arrayText(list, func(v int64) string { return strconv.FormatInt(v, 10) })
	case []string:
		if list == nil {
			return nil
		}
		return arrayText(list, quoteItem)
	case []*string:
		if list == nil {
			return nil
		}
		return arrayText(list, func(v *string) string {
			if v == nil {
				return "NULL"
			}
			return quoteItem(*v)
		})
	}
	return arg
}

// arrayText writes {a,b,c}.
func arrayText[T any](list []T, write func(T) string) string {
	items := make([]string, len(list))
	for i, item := range list {
		items[i] = write(item)
	}
	return "{" + strings.Join(items, ",") + "}"
}

// idText reads an array of ids in PostgreSQL's text form, which is how drivers that do not know arrays give it.
type idText []int64

// Scan implements [sql.Scanner].
func (ids *idText) Scan(value any) error {
	text := fmt.Sprintf("%s", value) // a string, or bytes
	for item := range strings.SplitSeq(strings.Trim(text, "{}"), ",") {
		if item == "" {
			continue
		}
		id, err := strconv.ParseInt(item, 10, 64)
		if err != nil {
			return fmt.Errorf("read ids: %w", err)
		}
		*ids = append(*ids, id)
	}
	return nil
}

var itemQuoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func quoteItem(item string) string { return `"` + itemQuoter.Replace(item) + `"` }

// interval writes a duration so that PostgreSQL reads it exactly, which before 15 takes no number that is longer than
// an int4; null when there is none.
func interval(d *time.Duration) *string {
	if d == nil {
		return nil
	}
	text := fmt.Sprintf("%d minutes %d microseconds", *d/time.Minute, (*d % time.Minute).Microseconds())
	return &text
}

// orNull makes "" null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
