package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// emit prints a value as JSON, or as the table that rows writes, one tab between columns.
func (a *app) emit(value any, rows func(w io.Writer)) error {
	if a.output == "json" {
		return writeJSON(a.stdout, value)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	rows(w)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// say prints a sentence, or the value when the output is JSON.
func (a *app) say(value any, format string, args ...any) error {
	return a.emit(value, func(w io.Writer) { fmt.Fprintf(w, format+"\n", args...) })
}

// writeJSON writes one value on one line.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// columns writes a row of a table.
func columns(w io.Writer, values ...any) {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = cell(v)
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// cell is a value in a table: on one line and not too wide.
func cell(v any) string {
	const widest = 60
	var text string
	switch v := v.(type) {
	case time.Time:
		text = v.Local().Format("2006-01-02 15:04:05.000")
	case *time.Time:
		if v == nil {
			return "-"
		}
		return cell(*v)
	case *int:
		if v == nil {
			return "-"
		}
		text = strconv.Itoa(*v)
	case *string:
		if v == nil {
			return "-"
		}
		text = *v
	case json.RawMessage:
		if v == nil {
			return "-"
		}
		text = string(v)
	default:
		text = fmt.Sprint(v)
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > widest {
		text = string(runes[:widest-3]) + "..."
	}
	return text
}

// plural words a count.
func plural(n int64, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
