// Package sql holds the engine: every statement that creates something in a database. See README.md.
package sql

import "embed"

// FS holds install.sql and the files it lists, and the faces, each with an install.sql of its own.
//
//go:embed *.sql types tables internal log functions faces
var FS embed.FS
