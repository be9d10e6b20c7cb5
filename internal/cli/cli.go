// Package cli is the command line: one file a subcommand, each of which reads its flags, calls the engine and prints
// a table or JSON.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/engine"
)

// app is what the subcommands share: the streams and the flags that every one of them has.
type app struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	name    string // how the user called the program, to be repeated in advice
	dsn     string
	dataDir string
	output  string
}

// Main runs the command line of this process and returns its exit code.
func Main() int {
	// A broken pipe must come back as an error of the write, so that what was not written is not acknowledged.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return Run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command line, args[0] being the program's name, and returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, name: programName(args[0])}
	if terminal, _ := terminalOf(stdout); !terminal {
		a.stdout = &pipe{Writer: stdout}
	}
	root := a.root()
	root.SetArgs(args[1:])
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if a.unread() && engine.Code(err) == "" { // what the database refused is told all the same
		return exitUnread
	}
	return a.report(command, err)
}

const rootHelp = "Weir turns a PostgreSQL database into a message queue.\n\n" +
	"`weir up` starts one and says what to type next."

// root is the list of all subcommands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "weir COMMAND",
		Short:         "A message queue in PostgreSQL",
		Long:          rootHelp,
		Args:          knownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(wrongFlag)
	flags := root.PersistentFlags()
	flags.StringVar(&a.dsn, "dsn", "", "database to use (default $WEIR_DSN, else that of the running weir up)")
	flags.StringVar(&a.dataDir, "data-dir", "",
		"where weir up keeps its data (default $WEIR_DATA_DIR, else ~/.local/share/weir)")
	flags.StringVarP(&a.output, "output", "o", "table", "table or json")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if a.output != "table" && a.output != "json" {
			return usagef("-o %s: the output is table or json", a.output)
		}
		return nil
	}
	root.AddCommand(
		a.up(), a.serve(), a.dsnCommand(), a.install(), a.uninstall(), a.adopt(), a.version(), exitCodesTopic(),
		a.status(), a.top(), a.ready(), a.doctor(),
		a.queue(), a.group(), a.log(), a.face(), a.grant(), a.revoke(), a.token(), a.topic(), a.job(), a.schedule(),
		a.send(), a.publish(), a.receive(), a.ack(), a.nack(), a.release(), a.reject(), a.extend(),
		a.get(), a.peek(), a.tail(), a.claims(), a.delayed(), a.parkedKeys(), a.dead(),
		a.bench(),
	)
	plainUsage(root)
	a.completeAll(root)
	return root
}

// plainUsage keeps cobra from adding [flags] to usage lines.
func plainUsage(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	for _, below := range c.Commands() {
		plainUsage(below)
	}
}

// work is what a subcommand does.
type work func(ctx context.Context, args []string) error

// leaf is a subcommand whose work needs to know of its flags nothing but their values.
func leaf(use, short string, args cobra.PositionalArgs, run work) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: usageArgs(args),
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args) },
	}
}

// parent is a subcommand that only has others below it.
func parent(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use + " COMMAND", Short: short, Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(below...)
	return c
}

// knownCommand refuses a command that a parent does not have, and names those below it that are called so, else those
// that are spelled much like it.
func knownCommand(c *cobra.Command, args []string) error {
	err := usageArgs(cobra.NoArgs)(c, args)
	var usage *usageError
	if errors.As(err, &usage) {
		c.SuggestionsMinimumDistance = 2
		near := namesakes(c, args[0])
		if len(near) == 0 {
			near = c.SuggestionsFor(args[0])
		}
		if len(near) > 0 {
			usage.hint = fmt.Sprintf("Did you mean %s?", strings.Join(near, " or "))
		}
	}
	return err
}

// namesakes are the commands two steps below that have a name, such as queue pause and group pause.
func namesakes(c *cobra.Command, name string) (all []string) {
	for _, below := range c.Commands() {
		for _, one := range below.Commands() {
			if one.Name() == name {
				all = append(all, below.Name()+" "+name)
			}
		}
	}
	return all
}

// flagValues are what the flags of each type take.
var flagValues = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
	"duration": "a time with its unit, such as 500ms, 30s, 5m or 2h",
}

// wrongFlag words what is wrong with a flag.
func wrongFlag(_ *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) && !errors.Is(err, strconv.ErrRange) {
		if takes, ok := flagValues[wrong.GetFlag().Value.Type()]; ok {
			return usagef("--%s %s: it is %s", wrong.GetFlag().Name, shellWord(wrong.GetValue()), takes)
		}
	}
	return &usageError{err: err}
}

// usageArgs marks what is wrong with the arguments as a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{err: fmt.Errorf("%w (usage: %s)", err, c.UseLine())}
		}
		return nil
	}
}
