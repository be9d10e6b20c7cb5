package docs_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// result is what a statement returns, as text.
type result struct {
	names []string
	rows  [][]string
}

// run runs one statement and returns its result, if it has one.
func run(ctx context.Context, conn *pgx.Conn, text string) ([]result, error) {
	answer := conn.PgConn().Exec(ctx, text)
	var all []result
	for answer.NextResult() {
		reader := answer.ResultReader()
		var one result
		for _, field := range reader.FieldDescriptions() {
			one.names = append(one.names, field.Name)
		}
		for reader.NextRow() {
			var row []string
			for _, cell := range reader.Values() {
				row = append(row, string(cell))
			}
			one.rows = append(one.rows, row)
		}
		if len(one.names) > 0 {
			all = append(all, one)
		}
	}
	return all, answer.Close()
}

// print prints a result as psql does, but for the width of the columns.
func (r result) print() string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(r.names, " | "))
	fmt.Fprintln(&b, strings.Repeat("-+", len(r.names)-1)+"-")
	for _, row := range r.rows {
		fmt.Fprintln(&b, strings.Join(row, " | "))
	}
	if len(r.rows) == 1 {
		fmt.Fprintln(&b, "(1 row)")
	} else {
		fmt.Fprintf(&b, "(%d rows)\n", len(r.rows))
	}
	return b.String()
}
