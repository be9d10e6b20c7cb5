package cli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirmq/weir/internal/engine"
)

// completeTimeout is how long somebody who pressed the tab key is kept waiting for the database.
const completeTimeout = 2 * time.Second

// enumerations are what flags of a name take where that is one of a few words.
var enumerations = map[string][]string{
	"output": {"table", "json"}, "start": {"start", "end"}, "missed": {"skip", "once", "all"},
	"log-format": {"text", "json"}, "log-level": {"debug", "info", "warn", "error"},
	"sort": {"n", "w", "c", "l", "d", "o", "i", "u", "b"}, "allow": {"produce", "consume", "admin", "read"},
	"mode": {"balanced", "overload", "soak"}, "via": {"sql", "http"}, "acks": {"gathered", "each"},
	"state":   {"waiting", "running", "done", "failed", "cancelled"},
	"setting": {"best", "default", "both"}, "POSITION": {"start", "end"}, "FACE": {"pgmq"}, "face": {"pgmq"},
}

// one is an argument that the usage line writes as the words it may be.
var one = regexp.MustCompile(`^[a-z]+(\|[a-z]+)+$`)

// nouns are arguments that are no files.
var nouns = regexp.MustCompile(`^(QUEUE|GROUP|LOG|FACE|NAME|TOPIC|PATTERN)$`)

// completeAll has shells complete the arguments of a command and of those below it, as their usage lines name them.
func (a *app) completeAll(c *cobra.Command) {
	line := strings.NewReplacer("[", "", "]", "", "(", "", ")", "", " | ", "|").Replace(c.Use)
	words := strings.Fields(line)[1:]
	if slices.ContainsFunc(words, func(word string) bool { return nouns.MatchString(word) || one.MatchString(word) }) {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(words) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.complete(c, words[len(args)], queueOf(words, args))
		}
	}
	flags := func(f *pflag.Flag) {
		if a.choices(c, f.Name) == nil {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, // fails when there is one already
			func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				return a.complete(c, f.Name, queueOf(words, args))
			})
	}
	c.Flags().VisitAll(flags)
	c.PersistentFlags().VisitAll(flags)
	for _, below := range c.Commands() {
		a.completeAll(below)
	}
}

// queueOf is the queue among the arguments of a command; empty when it has none, or not yet. It comes first where the
// usage line has none, since a flag of its group stands further up.
func queueOf(words, args []string) string {
	if i := max(slices.Index(words, "QUEUE"), 0); i < len(args) {
		return args[i]
	}
	return ""
}

// choices reads what an argument or a flag may be.
type choices func(ctx context.Context, queue string) ([]string, error)

// choices returns what reads the words that an argument or a flag of a command may be; nil when it may be any.
func (a *app) choices(c *cobra.Command, word string) choices {
	list, known := enumerations[word]
	if one.MatchString(word) {
		list, known = strings.Split(word, "|"), true
	}
	above, makes := "", c.Name() == "create"
	if c.HasParent() {
		above = c.Parent().Name()
	}
	switch {
	case known:
		return func(context.Context, string) ([]string, error) { return list, nil }
	case word == "QUEUE" && (!makes || above != "queue"), word == "queue":
		return names(a, (*engine.Client).ListQueues, func(q engine.Queue) string { return q.Name })
	case word == "GROUP" && !makes, word == "group":
		return func(ctx context.Context, queue string) ([]string, error) {
			groups := func(client *engine.Client, ctx context.Context) ([]engine.Group, error) {
				return client.ListGroups(ctx, queue)
			}
			return names(a, groups, func(g engine.Group) string { return g.Name })(ctx, queue)
		}
	case word == "LOG" && !makes, word == "log":
		return names(a, (*engine.Client).ListLogs, func(l engine.Log) string { return l.Name })
	case word == "NAME" && above == "schedule" && !makes:
		return names(a, (*engine.Client).ListSchedules, func(s engine.Schedule) string { return s.Name })
	case word == "NAME" && above == "token" && !makes:
		return names(a, (*engine.Client).ListTokens, func(t engine.Token) string { return t.Name })
	}
	return nil
}

// names reads the names of what a database has.
func names[T any](
	a *app, read func(*engine.Client, context.Context) ([]T, error), name func(T) string,
) choices {
	return func(ctx context.Context, _ string) (all []string, err error) {
		err = a.with(ctx, func(client *engine.Client) error {
			list, err := read(client, ctx)
			for _, item := range list {
				all = append(all, name(item))
			}
			return err
		})
		return all, err
	}
}

// complete reads what an argument or a flag may be. What cannot be had is not offered: a shell has no place for errors.
func (a *app) complete(c *cobra.Command, word, queue string) ([]string, cobra.ShellCompDirective) {
	read := a.choices(c, word)
	if read == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), completeTimeout)
	defer cancel()
	list, _ := read(ctx, queue)
	return list, cobra.ShellCompDirectiveNoFileComp
}
