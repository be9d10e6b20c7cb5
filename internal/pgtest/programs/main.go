// Command programs prints the directory with the programs of the PostgreSQL that tests run, of the major version given.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/weirmq/weir/internal/embedded"
)

func main() {
	if len(os.Args) != 2 {
		fail("usage: programs MAJOR")
	}
	major, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fail(err)
	}
	found, err := embedded.Find(context.Background(), embedded.Options{Major: major})
	if err != nil {
		fail(err)
	}
	fmt.Println(found.Dir)
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, "programs:", reason)
	os.Exit(1)
}
