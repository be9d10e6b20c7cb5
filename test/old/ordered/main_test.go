// Package ordered_test holds what an ordered group promises: of each key the consumers see one message after the other,
// in
// the order in which they were sent, whatever fails, expires or is slow; and a key in trouble delays no other.
package ordered_test

import (
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
