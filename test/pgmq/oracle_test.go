package pgmq_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
)

// TestTheFaceAnswersAsPGMQDoes gives PGMQ and the face the same calls, one after the other, and compares all that a
// client can see of the answers.
func TestTheFaceAnswersAsPGMQDoes(t *testing.T) {
	t.Parallel()
	calls := readCalls(t)
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		original := newCaller(t, newOriginal(t, major))
		face := newCaller(t, newFace(t, major))
		for i, call := range calls {
			if want, got := original.call(t, call), face.call(t, call); got != want {
				t.Errorf("call %d: %s\nPGMQ:\n%sthe face:\n%s", i+1, call, want, got)
			}
		}
	})
}

// readCalls reads the paragraphs of testdata/calls.sql that are no comments.
func readCalls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/calls.sql")
	if err != nil {
		t.Fatal(err)
	}
	calls := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	return slices.DeleteFunc(calls, func(call string) bool { return strings.HasPrefix(call, "--") })
}

// caller is a session and the notices it was told.
type caller struct {
	conn    *pgx.Conn
	notices []string
}

func newCaller(t *testing.T, db *pgtest.DB) *caller {
	t.Helper()
	c := &caller{}
	config, err := pgx.ParseConfig(db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["TimeZone"] = "UTC"
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		c.notices = append(c.notices, fmt.Sprintf("%s %s %s\n", n.Severity, n.Code, n.Message))
	}
	if c.conn, err = pgx.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.conn.Close(context.WithoutCancel(t.Context())) }) //nolint:errcheck // nothing is left to say
	return c
}

// call returns the answer to a call as text: names and types of columns, rows in some order, notices, the error.
func (c *caller) call(t *testing.T, sql string) string {
	t.Helper()
	c.notices = nil
	results, err := c.conn.PgConn().Exec(t.Context(), sql).ReadAll()
	var out strings.Builder
	for _, r := range results {
		for _, f := range r.FieldDescriptions {
			fmt.Fprintf(&out, "column %s %s\n", f.Name, c.typeName(t, f.DataTypeOID))
		}
		var rows []string
		for _, row := range r.Rows {
			rows = append(rows, rowText(row))
		}
		slices.Sort(rows)
		fmt.Fprintf(&out, "%s%s\n", strings.Join(rows, ""), r.CommandTag)
	}
	out.WriteString(strings.Join(c.notices, ""))
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		fmt.Fprintf(&out, "error %s %s\n", pg.Code, pg.Message)
	} else if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out.String()
}

func (c *caller) typeName(t *testing.T, oid uint32) string {
	t.Helper()
	var name string
	if err := c.conn.QueryRow(t.Context(), "select format_type($1, null)", oid).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func rowText(row [][]byte) string {
	var out strings.Builder
	for _, v := range row {
		text := "null"
		if v != nil {
			text = timePat.ReplaceAllStringFunc(string(v), nearest)
		}
		out.WriteString("  " + text + "\n")
	}
	return out.String()
}

var timePat = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00`)

// nearest writes a time as thousands of seconds from now.
func nearest(text string) string {
	at, err := time.Parse("2006-01-02 15:04:05-07", text)
	if err != nil {
		return text
	}
	return fmt.Sprintf("now%+d", int(math.Round(time.Until(at).Seconds()/1000)))
}
