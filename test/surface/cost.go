package surface

import (
	"encoding/json"
	"testing"
)

// Buffers runs a query and returns how many buffers it touched, those of the functions it called included.
func Buffers(tb testing.TB, c Conn, query string, args ...any) int {
	tb.Helper()
	var text []byte
	err := c.QueryRow(tb.Context(), "explain (analyze, buffers, format json) "+query, args...).Scan(&text)
	if err != nil {
		tb.Fatalf("explain %s: %v", query, err)
	}
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		tb.Fatalf("read plan %s: %v", text, err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}
