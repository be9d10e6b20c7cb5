// Package claims_test covers sending, receiving and settling on the engine of sql/next.
package claims_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/next/engine"
)

func TestMain(m *testing.M) {
	pgtest.SetInstaller(engine.Install)
	pgtest.Main(m)
}

func TestAQueueThatIsThereIsLeftAsItIs(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		if !pgtest.QueryVal[bool](t, db, "select weir.create_queue('orders')") {
			t.Error("the first create_queue did not make the queue")
		}
		if pgtest.QueryVal[bool](t, db, "select weir.create_queue('orders')") {
			t.Error("the second create_queue made it again")
		}
	})
}
