package operators_test

import (
	"regexp"
	"strings"

	"github.com/weirmq/weir/internal/pgtest"
)

// found returns what doctor finds, one line a finding.
func found(b bench) string {
	b.Helper()
	return strings.Join(pgtest.QueryAll[string](b, b.db, `select concat_ws(' | ', severity, finding, queue_name,
		group_name, value, message, cure) from weir.doctor() where severity <> 'info'`), "\n")
}

// finds fails the test when doctor finds something else than one line that matches each pattern.
func (b bench) finds(patterns ...string) {
	b.Helper()
	lines := strings.Split(found(b), "\n")
	if len(patterns) == 0 && lines[0] == "" {
		return
	}
	if len(lines) != len(patterns) {
		b.Fatalf("doctor finds:\n%s\nwant %q", strings.Join(lines, "\n"), patterns)
	}
	for i, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(lines[i]) {
			b.Errorf("doctor finds:\n%s\nwant %s", lines[i], pattern)
		}
	}
}
