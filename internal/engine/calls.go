package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// saturated brings every int, which is an int4 in SQL, into the range of one: the engine refuses it there as it refuses
// any large number, where the driver could only fail without a code.
func saturated(args []any) []any {
	fit := func(n int) int { return min(max(n, math.MinInt32), math.MaxInt32) }
	for i, arg := range args {
		switch n := arg.(type) {
		case int:
			args[i] = fit(n)
		case *int:
			if n != nil {
				args[i] = fit(*n)
			}
		case []int:
			for j := range n {
				n[j] = fit(n[j])
			}
		}
	}
	return args
}

// exec runs a statement that returns nothing of interest.
func (c *Client) exec(ctx context.Context, doing, sql string, args ...any) error {
	_, err := c.q.Exec(ctx, sql, saturated(args)...)
	return wrap(doing, err)
}

// one reads the single value of a statement that returns one row.
func one[T any](ctx context.Context, c *Client, doing, sql string, args ...any) (T, error) {
	var v T
	err := c.q.QueryRow(ctx, sql, saturated(args)...).Scan(&v)
	return v, wrap(doing, err)
}

// collect reads all rows; fields gives the places where the columns of one row go.
func collect[T any](
	ctx context.Context, c *Client, doing, sql string, fields func(*T) []any, args ...any,
) ([]T, error) {
	rows, err := c.q.Query(ctx, sql, saturated(args)...)
	if err != nil {
		return nil, wrap(doing, err)
	}
	return collectRows(doing, rows, fields)
}

// collectRows reads all rows and closes them.
func collectRows[T any](doing string, rows pgx.Rows, fields func(*T) []any) ([]T, error) {
	defer rows.Close()
	list := []T{}
	for rows.Next() {
		var item T
		if err := rows.Scan(fields(&item)...); err != nil {
			return nil, wrap(doing, err)
		}
		list = append(list, item)
	}
	return list, wrap(doing, rows.Err())
}

// Millis is a duration that JSON shows as whole milliseconds and SQL knows as an interval.
type Millis time.Duration

// MarshalJSON writes the number of milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(m).Milliseconds())
}

// UnmarshalJSON reads a number of milliseconds.
func (m *Millis) UnmarshalJSON(text []byte) error {
	var n int64
	if err := json.Unmarshal(text, &n); err != nil {
		return fmt.Errorf("%s is not a whole number of milliseconds", text)
	}
	if limit := int64(math.MaxInt64 / time.Millisecond); n > limit || n < -limit {
		return fmt.Errorf("%d milliseconds are more than any clock counts", n)
	}
	*m = Millis(time.Duration(n) * time.Millisecond)
	return nil
}

// String writes the duration as Go does.
func (m Millis) String() string { return time.Duration(m).String() }

// ScanInterval reads an SQL interval; a month counts as 30 days.
func (m *Millis) ScanInterval(v pgtype.Interval) error {
	if !v.Valid {
		*m = 0
		return nil
	}
	const day, month = 24 * time.Hour, 30 * 24 * time.Hour
	*m = Millis(time.Duration(v.Months)*month + time.Duration(v.Days)*day + time.Duration(v.Microseconds)*time.Microsecond)
	return nil
}

// IntervalValue gives the duration to SQL.
func (m Millis) IntervalValue() (pgtype.Interval, error) {
	return pgtype.Interval{Microseconds: time.Duration(m).Microseconds(), Valid: true}, nil
}

// utc is a time that does not depend on the zone of this machine.
type utc time.Time

// ScanTimestamptz reads a timestamptz.
func (u *utc) ScanTimestamptz(v pgtype.Timestamptz) error {
	*u = utc(v.Time.UTC())
	return nil
}
