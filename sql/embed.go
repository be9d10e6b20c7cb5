// Package sql holds the engine: every statement that creates something in a database. See README.md.
package sql

import "embed"

// FS holds install.sql and the files it lists.
//
//go:embed *.sql next/*.sql next/types next/tables next/log next/internal next/functions types tables internal queue functions
var FS embed.FS
