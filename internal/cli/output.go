package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/top"
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
	text := whole(v)
	if runes := []rune(text); len(runes) > widest {
		text = string(runes[:widest-3]) + "..."
	}
	return text
}

// whole is a value on one line, however long.
func whole(v any) string {
	var text string
	switch v := v.(type) {
	case time.Time:
		text = v.Local().Format("2006-01-02 15:04:05.000")
	case *time.Time:
		if v == nil {
			return "-"
		}
		return whole(*v)
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
	case engine.Millis:
		text = span(time.Duration(v))
	case bytesOf:
		text = top.Size(int64(v))
	default:
		text = fmt.Sprint(v)
	}
	return plain(text)
}

// bytesOf is a number of bytes in a table.
type bytesOf int64

// span writes a time without units that are zero.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// plain keeps a text from doing anything to a terminal but to be read: neither move its cursor nor turn its letters
// round.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// writeText writes a text of many lines, each below the other.
func writeText(w io.Writer, name string, text *string) {
	if text == nil {
		fmt.Fprintf(w, "%s\t-\n", name)
		return
	}
	if !strings.Contains(strings.TrimRight(*text, "\n"), "\n") {
		fmt.Fprintf(w, "%s\t%s\n", name, plain(strings.TrimRight(*text, "\n")))
		return
	}
	fmt.Fprintln(w, name)
	for line := range strings.Lines(*text) {
		fmt.Fprintln(w, "  "+plain(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}

// plural words a count.
func plural(n int64, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
