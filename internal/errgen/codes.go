package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// code is one line of errors.csv.
type code struct {
	SQLState  string
	Name      string
	Meaning   string
	Status    int
	Retryable bool
	Cure      string
}

var (
	columns     = []string{"sqlstate", "name", "meaning", "http_status", "retryable", "cure"}
	statePat    = regexp.MustCompile(`^WR\d{3}$`)
	codeNamePat = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
)

// readCodes reads and checks the list.
func readCodes(path string) ([]code, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	return parseCodes(text)
}

// parseCodes checks the list line by line: clients rely on each column.
func parseCodes(text []byte) ([]code, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("parse list: %w", err)
	}
	if len(rows) < 2 || !slices.Equal(rows[0], columns) {
		return nil, fmt.Errorf("%w: want the columns %s and at least one code", errList, strings.Join(columns, ","))
	}
	codes := make([]code, 0, len(rows)-1)
	names := map[string]bool{}
	for _, row := range rows[1:] {
		c, err := parseCode(row)
		if err != nil {
			return nil, err
		}
		if n := len(codes); n > 0 && codes[n-1].SQLState >= c.SQLState {
			return nil, fmt.Errorf("%w: %s does not come after %s", errList, c.SQLState, codes[n-1].SQLState)
		}
		if names[c.Name] {
			return nil, fmt.Errorf("%w: the name %s is there twice", errList, c.Name)
		}
		names[c.Name] = true
		codes = append(codes, c)
	}
	return codes, nil
}

// parseCode checks one line.
func parseCode(row []string) (code, error) {
	c := code{SQLState: row[0], Name: row[1], Meaning: row[2], Cure: row[5]}
	if !statePat.MatchString(c.SQLState) {
		return c, fmt.Errorf("%w: SQLSTATE %q is not WR and three digits", errList, c.SQLState)
	}
	if !codeNamePat.MatchString(c.Name) {
		return c, fmt.Errorf("%w: %s: the name %q is not lower-case words joined by _", errList, c.SQLState, c.Name)
	}
	for _, text := range []string{c.Meaning, c.Cure} {
		if !strings.HasSuffix(text, ".") || strings.ContainsAny(text, "\n|") {
			return c, fmt.Errorf("%w: %s: %q is not one line of sentences without |", errList, c.SQLState, text)
		}
	}
	var err error
	if c.Status, err = strconv.Atoi(row[3]); err != nil || c.Status < 400 || c.Status > 599 {
		return c, fmt.Errorf("%w: %s: %q is no HTTP status of an error", errList, c.SQLState, row[3])
	}
	if row[4] != "true" && row[4] != "false" {
		return c, fmt.Errorf("%w: %s: retryable is %q, want true or false", errList, c.SQLState, row[4])
	}
	c.Retryable = row[4] == "true"
	return c, nil
}
