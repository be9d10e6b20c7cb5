// Command weir installs, runs, serves and uses message queues in PostgreSQL.
package main

import (
	"os"

	"github.com/weirmq/weir/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
