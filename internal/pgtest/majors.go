package pgtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The versions of PostgreSQL that Weir is tested on.
const (
	oldest = 14
	Newest = 18
)

// Majors returns the major versions to test on: all, or those that WEIR_TEST_PG lists, separated by commas.
func Majors() []int {
	var all []int
	for major := oldest; major <= Newest; major++ {
		all = append(all, major)
	}
	list := os.Getenv("WEIR_TEST_PG")
	if list == "" {
		return all
	}
	var majors []int
	for word := range strings.SplitSeq(list, ",") {
		major, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || !slices.Contains(all, major) {
			panic(fmt.Sprintf("WEIR_TEST_PG=%s: want versions out of %v, separated by commas", list, all))
		}
		majors = append(majors, major)
	}
	return majors
}

// EachMajor runs a test as one subtest a major version, which may call t.Parallel.
func EachMajor(t *testing.T, test func(t *testing.T, major int)) {
	t.Helper()
	for _, major := range Majors() {
		t.Run("pg"+strconv.Itoa(major), func(t *testing.T) { test(t, major) })
	}
}

// Each runs a test as one subtest a major version, beside each other, each with a database of its own.
func Each(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Helper()
	EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		test(t, New(t, Options{Major: major}))
	})
}

// Longer is how many times as long as in the gate storms rage and walks go: WEIR_TEST_LONGER.
func Longer() int {
	text := os.Getenv("WEIR_TEST_LONGER")
	if text == "" {
		return 1
	}
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 {
		panic(fmt.Sprintf("WEIR_TEST_LONGER=%s: want a number of times from 1", text))
	}
	return times
}

// newestMajor is what a test gets that does not care.
func newestMajor() int { return slices.Max(Majors()) }
