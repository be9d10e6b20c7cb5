// Package claims_test covers sending, receiving and settling on the engine.
package claims_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) {
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
