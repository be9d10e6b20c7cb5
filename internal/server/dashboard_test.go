package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

var (
	// namePat finds names of series in PromQL, and labelsPat what a selector asks of their labels.
	namePat   = regexp.MustCompile(`\b(weir|process|go)_[a-z0-9_]+\b`)
	labelsPat = regexp.MustCompile(`\b((?:weir|process|go)_[a-z0-9_]+)\{([^}]*(?:\{[a-z]+\}[^}]*)*)\}`)
	matchPat  = regexp.MustCompile(`([a-z]+)=~?"`)
)

// dashboardQueries returns every PromQL text of the dashboard.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/weir.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Query any }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	for _, variable := range board.Templating.List {
		if query, ok := variable.Query.(map[string]any); ok {
			queries = append(queries, query["query"].(string)) //nolint:errcheck // a panic fails the test, too
		}
	}
	if len(queries) < 20 {
		t.Fatalf("only %d queries", len(queries))
	}
	return queries
}

func TestTheDashboardAndTheAlertsAskForSeriesThatAServerShows(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	url, _ := serveWith(t, db, quiet)
	got := ask(t, "POST", url+"/v1/queues/q/messages", `{"messages":[{"payload":1}]}`, nil)
	if got.status != http.StatusCreated {
		t.Fatal(got.text)
	}
	shown := ask(t, "GET", url+"/metrics", "", nil).text
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	queries := append(dashboardQueries(t), string(rules))
	for _, query := range queries {
		for _, name := range namePat.FindAllString(query, -1) {
			if !strings.Contains(shown, "\n"+name+" ") && !strings.Contains(shown, "\n"+name+"{") {
				t.Errorf("the server shows no %s, which is asked for by %s", name, query)
			}
		}
		for _, selector := range labelsPat.FindAllStringSubmatch(query, -1) {
			line := regexp.MustCompile(`(?m)^` + selector[1] + `\{.*$`).FindString(shown)
			for _, label := range matchPat.FindAllStringSubmatch(selector[2], -1) {
				given := label[1] == "instance" || label[1] == "job" // by Prometheus
				if !given && !strings.Contains(line, label[1]+`="`) {
					t.Errorf("%s has no label %s: %s", selector[1], label[1], line)
				}
			}
		}
	}
}
