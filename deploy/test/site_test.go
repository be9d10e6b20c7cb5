package deploy_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// site is the folder of the documentation's site, which `make docs` has built, named by SITE.
func site(t *testing.T) fs.FS {
	t.Helper()
	dir := os.Getenv("SITE")
	if dir == "" {
		t.Fatal("SITE names no folder: run this through `make deploy`")
	}
	return os.DirFS(dir)
}

// sitePage is what a page links to, and what can be linked to in it.
type sitePage struct{ links, anchors []string }

func readSitePage(t *testing.T, text []byte) sitePage {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var p sitePage
	for node := range root.Descendants() {
		for _, attr := range node.Attr {
			switch attr.Key {
			case "href", "src":
				p.links = append(p.links, attr.Val)
			case "id", "name":
				p.anchors = append(p.anchors, attr.Val)
			}
		}
	}
	return p
}

func TestNoLinkOfTheSiteIsBroken(t *testing.T) {
	t.Parallel()
	files := site(t)
	pages, anchors, links := map[string]sitePage{}, map[string]bool{}, 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		anchors[name] = true
		if path.Ext(name) != ".html" {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		pages[name] = readSitePage(t, text)
		for _, anchor := range pages[name].anchors {
			anchors[name+"#"+anchor] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range pages {
		base := &url.URL{Path: "/" + name}
		for _, link := range page.links {
			to, err := base.Parse(link)
			if err != nil {
				t.Errorf("%s links to %q: %v", name, link, err)
				continue
			}
			if to.Scheme != "" || to.Host != "" {
				continue
			}
			links++
			target := strings.TrimPrefix(to.Path, "/")
			if target == "" || strings.HasSuffix(target, "/") {
				target += "index.html"
			}
			if !anchors[target] || to.Fragment != "" && !anchors[target+"#"+to.Fragment] {
				t.Errorf("%s links to %q, which is not there", name, link)
			}
		}
	}
	t.Logf("%d pages, %d links", len(pages), links)
	if len(pages) < 50 || links < 2000 {
		t.Errorf("only %d pages with %d links", len(pages), links)
	}
}

func TestTheSiteHasItsPagesAndCanBeSearched(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(site(t), "search/search_index.json")
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Docs []struct{ Location, Title, Text string }
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, doc := range index.Docs {
		found[doc.Location] += doc.Title + doc.Text
	}
	for where, what := range map[string]string{
		"docs/start/":                         "first ten minutes",
		"docs/start/#without-go":              "make dist",
		"docs/tasks/exactly-once/":            "exactly once",
		"docs/reference/sql/#weirsend_batch":  "send_batch",
		"sdk/python/":                         "Python",
		"bench/results/shootout/":             "shootout",
		"docs/adr/0001-sql-decides/#decision": "SQL",
	} {
		if !strings.Contains(strings.ToLower(found[where]), strings.ToLower(what)) {
			t.Errorf("the search index does not tell %q of %s: %.200s", what, where, found[where])
		}
	}
}
