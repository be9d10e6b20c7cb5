package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns the whole command line for programs that describe it; it is not meant to be run.
func Command() *cobra.Command {
	a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, name: "weir"}
	return a.root()
}
