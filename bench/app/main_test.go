package app_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/weirmq/weir/bench/app"
	"github.com/weirmq/weir/bench/load"
	"github.com/weirmq/weir/internal/pgtest"
)

// TestMain lets this program be the load.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == app.LoadArgument {
		if err := load.Run(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	pgtest.Main(m)
}
