package cli

import (
	"context"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/migrate"
)

// version prints the version of this program, which is that of the engine it installs.
func (a *app) version() *cobra.Command {
	return leaf("version", "Print the version of this program", cobra.NoArgs, func(context.Context, []string) error {
		view := map[string]string{"version": migrate.Version()}
		text := "weir " + migrate.Version()
		if revision := buildRevision(); revision != "" {
			view["revision"] = revision
			text += " (" + revision + ")"
		}
		return a.say(view, "%s", text)
	})
}

// revision is the commit that the program was built from, set by the linker where a release is made.
var revision string

// buildRevision is the commit that the program was built from, when the build says so.
func buildRevision() string {
	if revision != "" {
		return revision
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}
