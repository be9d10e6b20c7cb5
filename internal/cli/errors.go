package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server"
)

// Exit codes, as `weir help exit-codes` lists them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnreachable = 5
	exitForbidden   = 6
	exitInterrupted = 130
	exitUnread      = 141
)

const exitCodes = `  0    done; also when a receive found nothing
  1    an error that none of the following is
  2    the command line or the input cannot be right (SQLSTATEs with HTTP status 400 or 413)
  3    there is no such queue, group, claim or dead letter (status 404)
  4    it conflicts with what is there: an expired claim, a name in use, a newer engine,
       a data directory or an address in use (status 409)
  5    the database cannot be reached, or there is none; a server is not ready
  6    the role may not do this
  130  interrupted, or answered with no, before it was done
  141  whoever read the output went away, as head does behind a pipe; nothing is said`

// exitCodesTopic is a page of `weir help`.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use: "exit-codes", Short: "What the exit codes mean",
		Long: "Every command ends with one of these:\n\n" + exitCodes + "\n\n" +
			"Errors go to standard error with their SQLSTATE and what to do; with -o json as one JSON object.",
	}
}

var (
	// errNoDatabase says that no flag, no variable and no running server names a database.
	errNoDatabase = errors.New("no database")
	// errNoTerminal says that what is to be watched was sent into a file or a pipe.
	errNoTerminal = errors.New("top needs a terminal")
	// errNotReady says that a server cannot serve requests.
	errNotReady = errors.New("not ready")
	// errDeclined ends a command that was not allowed to go on.
	errDeclined = errors.New("nothing was changed")
	// errFound ends a doctor that has found an error.
	errFound = errors.New("something is wrong")
	// errFeedEnd ends a feed whose input has ended.
	errFeedEnd = errors.New("the input has ended")
	// errFeedStopped ends a feed that is wanted no more.
	errFeedStopped = errors.New("reading was stopped")
)

// usageError is a command line or an input that cannot be right.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// hinted adds a cure to an error that has none.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// lineError is a line that cannot be a message.
type lineError struct {
	number int
	err    error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.number, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// chunkError is a failure to send some lines.
type chunkError struct {
	lines []line
	err   error
}

func (e *chunkError) first() int { return e.lines[0].number }

func (e *chunkError) span() string {
	if len(e.lines) == 1 {
		return fmt.Sprintf("line %d", e.first())
	}
	return fmt.Sprintf("lines %d to %d", e.first(), e.lines[len(e.lines)-1].number)
}

// ofOneLine reports whether the data of one of several lines must be at fault.
func (e *chunkError) ofOneLine() bool {
	var refused *engine.Error
	return len(e.lines) > 1 && errors.As(e.err, &refused) && engineExitCode(refused) == exitUsage
}

func (e *chunkError) Error() string { return e.span() + ": " + e.err.Error() }
func (e *chunkError) Unwrap() error { return e.err }

// report prints an error and returns the exit code that says the same.
func (a *app) report(c *cobra.Command, err error) int {
	f := a.failureOf(c, err)
	if a.output == "json" {
		text, _ := json.Marshal(map[string]failure{"error": f})
		fmt.Fprintln(a.stderr, string(text))
		return f.ExitCode
	}
	message := f.Message
	if f.SQLState != "" {
		message += " (SQLSTATE " + f.SQLState + ", " + f.Name + ")"
	}
	fmt.Fprintln(a.stderr, "weir: "+message)
	if f.Hint != "" {
		fmt.Fprintln(a.stderr, "hint: "+f.Hint)
	}
	return f.ExitCode
}

// failure is what the user is told.
type failure struct {
	Message  string `json:"message"`
	SQLState string `json:"sqlstate,omitempty"`
	Name     string `json:"name,omitempty"`
	Hint     string `json:"hint,omitempty"`
	ExitCode int    `json:"exit_code"`
}

// failureOf words an error.
func (a *app) failureOf(c *cobra.Command, err error) failure {
	f := failure{Message: err.Error(), ExitCode: exitCode(err)}
	var e *engine.Error
	if errors.As(err, &e) {
		f.SQLState, f.Name, f.Hint = e.Code, e.Name, a.cure(e.Hint)
		detail := ""
		if e.Detail != "" {
			detail = ": " + strings.TrimSuffix(e.Detail, ".")
		}
		f.Message = strings.Replace(f.Message, " (SQLSTATE "+e.Code+")", detail, 1)
	}
	var usage *usageError
	if errors.As(err, &usage) && usage.hint != "" {
		f.Hint = usage.hint
	}
	var more *hinted
	if errors.As(err, &more) {
		f.Hint = more.hint
	}
	if usage != nil && f.Hint == "" && c != nil {
		f.Hint = fmt.Sprintf("`%s --help` shows what it takes.", strings.Replace(c.CommandPath(), "weir", a.name, 1))
	}
	return f
}

// creation is the engine's hint to make what is missing, where a queue or group can have the name.
var creation = regexp.MustCompile(`^select weir\.create_(queue|group)\('([a-z0-9_.-]+)'(?:, '([a-z0-9_.-]+)')?\)$`)

// cure words the engine's hint for the shell where it names the SQL function.
func (a *app) cure(hint string) string {
	call := creation.FindStringSubmatch(hint)
	if call == nil {
		return hint
	}
	return strings.TrimSuffix(strings.Join([]string{a.name, call[1], "create", call[2], call[3]}, " "), " ")
}

// exitCode classifies an error.
func exitCode(err error) int {
	var usage *usageError
	var running *embedded.AlreadyRunningError
	var major *embedded.OtherMajorError
	var e *engine.Error
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errNoDatabase), errors.Is(err, errNotReady):
		return exitUnreachable
	case errors.As(err, &running), errors.As(err, &major), errors.Is(err, embedded.ErrPortInUse),
		errors.Is(err, embedded.ErrNotDataDir), errors.Is(err, server.ErrAddress):
		return exitConflict
	case errors.As(err, &e):
		return engineExitCode(e)
	case errors.Is(err, context.Canceled), errors.Is(err, errDeclined):
		return exitInterrupted
	}
	return exitError
}

// engineExitCode goes by the HTTP status, so that both interfaces class an error alike.
func engineExitCode(e *engine.Error) int {
	if e.Status == http.StatusBadRequest || e.Status == http.StatusRequestEntityTooLarge {
		return exitUsage
	}
	if e.Unreachable() {
		return exitUnreachable
	}
	switch e.Status {
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusConflict:
		return exitConflict
	case http.StatusForbidden:
		return exitForbidden
	}
	return exitError
}

// programName is how to call the program again: the path as it was typed, or the bare name when it is in PATH.
func programName(arg string) string {
	switch {
	case !strings.ContainsRune(arg, os.PathSeparator):
		return "weir"
	case strings.Contains(arg, "/go-build") && strings.Contains(arg, "/exe/"):
		return "go run ./cmd/weir" // the path that go run gave it is soon gone
	}
	return shellWord(arg)
}

// shellWord quotes a word for a shell when it needs it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
