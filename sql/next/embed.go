// Package next holds the engine that is built beside the present one. No program carries it yet.
package next

import "embed"

// FS holds install.sql and the files of this folder that it lists; others it takes from the folder above.
//
//go:embed *.sql types tables log internal functions
var FS embed.FS
