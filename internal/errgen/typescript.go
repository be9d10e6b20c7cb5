package main

import (
	"bytes"
	"fmt"
	"strings"
)

// renderTypeScript writes the codes by name, and what is known of each.
func renderTypeScript(codes []code) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n", mark)
	b.WriteString("/** SQLSTATEs that the engine raises. */\nexport const Code = {\n")
	for _, c := range codes {
		fmt.Fprintf(&b, "  /** %s */\n  %s: %q,\n", c.Meaning, lowerCamel(c.Name), c.SQLState)
	}
	b.WriteString("} as const;\n\n" +
		"/** What errors.csv says about a SQLSTATE. */\n" +
		"export interface CodeInfo {\n  name: string;\n  status: number;\n  retryable: boolean;\n}\n\n" +
		"/** The SQLSTATEs of class WR. */\nexport const codeInfos: ReadonlyMap<string, CodeInfo> = new Map([\n")
	for _, c := range codes {
		fmt.Fprintf(&b, "  [%q, { name: %q, status: %d, retryable: %t }],\n", c.SQLState, c.Name, c.Status, c.Retryable)
	}
	b.WriteString("]);\n")
	return b.Bytes(), nil
}

// lowerCamel turns queue_not_found into queueNotFound, and ids_not_in_claim into idsNotInClaim.
func lowerCamel(name string) string {
	first, rest, more := strings.Cut(name, "_")
	if !more {
		return first
	}
	return first + camel(rest)
}
