package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/top"
)

const topHelp = `Show in the terminal how the queues stand, again and again; ? lists the keys.

It reads the database of --dsn, or with --url asks a server, with the token of $WEIR_TOKEN if there is one.`

const (
	// topEveryMin keeps the looks from being a load themselves.
	topEveryMin = 200 * time.Millisecond
	// widthUnlimited is the width of a frame that goes into a file.
	widthUnlimited = 10_000
)

// topOptions are the flags of top.
type topOptions struct {
	every  time.Duration
	sort   string
	filter string
	url    string
	once   bool
}

// top shows a live table of the queues.
func (a *app) top() *cobra.Command {
	var opt topOptions
	c := leaf("top [QUEUE]", "Watch the queues, or the groups of one, in the terminal", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error { return a.runTop(ctx, opt, append(args, "")[0]) })
	c.Long = topHelp
	flags := c.Flags()
	flags.DurationVar(&opt.every, "every", 2*time.Second, "time between two looks")
	flags.StringVar(&opt.sort, "sort", "w", "n, w, c, l, d, o, i, u or b: the letter that sorts so while it runs")
	flags.StringVar(&opt.filter, "filter", "", "show only names that contain this")
	flags.StringVar(&opt.url, "url", "", "ask the server at this address instead of the database")
	flags.BoolVar(&opt.once, "once", false, "print one frame and end; with -o json the figures")
	return c
}

func (a *app) runTop(ctx context.Context, opt topOptions, queue string) error {
	key, n := utf8.DecodeRuneInString(opt.sort)
	if n != len(opt.sort) || !slices.Contains(top.SortKeys(), key) {
		return usagef("--sort %s: it is one letter of n w c l d o i u b", opt.sort)
	}
	if opt.every < topEveryMin {
		return usagef("--every %s: it is %s or more", opt.every, topEveryMin)
	}
	readable, _ := terminalOf(a.stdin)
	terminal, width := terminalOf(a.stdout)
	if !opt.once && (!terminal || !readable) {
		return &usageError{
			err:  errNoTerminal,
			hint: fmt.Sprintf("`%s top --once` prints one frame; `%s status -o json` is for programs.", a.name, a.name),
		}
	}
	source, name, done, err := a.topSource(ctx, opt.url)
	if err != nil {
		return err
	}
	defer done()
	options := top.Options{
		Source: source, Name: name, Every: opt.every, Sort: key, Filter: opt.filter, Queue: queue,
		Advice: a.name + " queue create NAME makes one",
	}
	if opt.once {
		return a.topOnce(ctx, options, width)
	}
	_, err = tea.NewProgram(top.New(ctx, options), tea.WithContext(ctx), tea.WithInput(a.stdin),
		tea.WithOutput(a.stdout), tea.WithoutSignalHandler()).Run()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("run top: %w", err)
	}
	return nil
}

// topOnce prints one frame, or the figures.
func (a *app) topOnce(ctx context.Context, opt top.Options, width int) error {
	if a.output == "json" {
		list, err := opt.Source.Stats(ctx, opt.Queue)
		if err != nil {
			return err
		}
		return writeJSON(a.stdout, map[string][]engine.GroupStats{"groups": list})
	}
	frame, err := top.Frame(ctx, opt, width)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(a.stdout, frame); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// topSource is what to look at, with its name, and what ends it.
func (a *app) topSource(ctx context.Context, at string) (source top.Source, name string, done func(), err error) {
	if at != "" {
		address, err := url.Parse(at)
		if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
			return nil, "", nil, usagef("--url %s: it is like http://127.0.0.1:9347", at)
		}
		return &top.HTTP{URL: at, Token: os.Getenv("WEIR_TOKEN"), Client: http.DefaultClient}, address.Host, func() {}, nil
	}
	client, err := a.connect(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	name = client.Database()
	return client, name, client.Close, nil
}

// terminalOf reports whether a stream is a terminal, and how wide it is.
func terminalOf(stream any) (terminal bool, width int) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return false, widthUnlimited
	}
	width, _, err := term.GetSize(file.Fd())
	return err == nil, width
}
