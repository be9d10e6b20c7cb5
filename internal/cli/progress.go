package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// progress is a logger for people who wait: one line a step, without times and levels.
func (a *app) progress() *slog.Logger {
	h := &plainHandler{w: a.stderr}
	if terminal, _ := terminalOf(a.stderr); terminal {
		h.before = clearLine
	}
	return slog.New(h)
}

// plainHandler writes `weir: message name=value`.
type plainHandler struct {
	w      io.Writer
	before string // what makes room for a line
	with   string
}

// Enabled leaves out what is only for debugging.
func (h *plainHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle writes one line.
func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	var text strings.Builder
	text.WriteString(h.before + "weir: " + r.Message + h.with)
	r.Attrs(func(attr slog.Attr) bool {
		fmt.Fprintf(&text, " %s=%s", attr.Key, attr.Value)
		return true
	})
	_, err := fmt.Fprintln(h.w, text.String())
	return err
}

// WithAttrs remembers attributes for every line.
func (h *plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := &plainHandler{w: h.w, before: h.before, with: h.with}
	for _, attr := range attrs {
		more.with += fmt.Sprintf(" %s=%s", attr.Key, attr.Value)
	}
	return more
}

// WithGroup does nothing: there are no groups in a line for people.
func (h *plainHandler) WithGroup(string) slog.Handler { return h }
