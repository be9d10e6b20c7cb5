// Package jsontext finds in JSON what Go's decoder puts up with and PostgreSQL does not: text that is none. The decoder
// replaces each by U+FFFD, so that many keys would become one.
package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Check returns an error when a JSON text is not in UTF-8, or escapes half of a character, as in "\ud800".
func Check(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not in UTF-8")
	}
	if at := halfCharacter(text); at >= 0 {
		return fmt.Errorf("not text: %s stands for half of a character, at byte %d", text[at:at+6], at)
	}
	return nil
}

// halfCharacter finds an escape that stands for half of a character without the other half; -1 when there is none.
func halfCharacter(text []byte) int {
	at := 0
	for {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return -1
		}
		at += next
		first, ok := escaped(text[at:])
		switch {
		case !ok:
			at = min(at+2, len(text)) // another escape, or none, which the decoder tells
		case !utf16.IsSurrogate(first):
			at += 6
		default:
			second, _ := escaped(text[at+6:])
			if utf16.DecodeRune(first, second) == utf8.RuneError {
				return at
			}
			at += 12
		}
	}
}

// escaped reads an escape of four hexadecimal digits.
func escaped(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}
