// Package bench holds what is measured, the SQL of each adapter's workloads, and what Weir came to. The driver is
// internal/bench; see METHODOLOGY.md for how and why.
package bench

import "embed"

// Adapters holds adapters/<system>/<workload>.sql, the same file names for each system.
//
//go:embed adapters
var Adapters embed.FS
