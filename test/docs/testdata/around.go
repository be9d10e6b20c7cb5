// Package around has what the blocks of the pages leave to their reader.
package around

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
)

// Block is a block of a page.
type Block func(ctx context.Context, pool *pgxpool.Pool, client *weir.Client) error

// Run runs the blocks that the command line names, one after the other, each with a client of the page's database.
func Run(blocks map[string]Block) {
	ctx := context.Background()
	for _, name := range os.Args[1:] {
		pool, err := pgxpool.New(ctx, os.Getenv("WEIR_DSN"))
		if err == nil {
			err = blocks[name](ctx, pool, weir.New(pool))
			pool.Close()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		fmt.Println("\x1e")
	}
}

// UntilIdle is a context that ends when nothing of a queue waits and nothing is claimed: the end of its worker.
func UntilIdle(ctx context.Context, client *weir.Client, queue string) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for {
			stats, err := client.Stats(ctx, queue)
			busy := int64(0)
			for _, s := range stats {
				busy += s.Waiting + s.Claimed
			}
			if err != nil || busy == 0 {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return ctx
}
