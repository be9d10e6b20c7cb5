// Package chromium drives a page in Chromium for tests: those of the server's page and of the reports of benchmarks.
package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// PollTimeout is how long a page may take to show something: it asks a slow database seldom.
const PollTimeout = 4 * time.Minute

// Page is a page in a browser. What it complains of fails the test.
type Page struct {
	*testing.T

	Ctx context.Context //nolint:containedctx // chromedp hands its browser round in it

	mu         sync.Mutex
	complaints []string // what the page wrote to the console as an error
}

// Open starts a browser.
func Open(t *testing.T) *Page {
	t.Helper()
	b := &Page{T: t}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Fatal("no Chromium: install Debian's package chromium")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(3*time.Minute),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true))
	allocated, stopAllocator := chromedp.NewExecAllocator(t.Context(), flags...)
	t.Cleanup(stopAllocator)
	ctx, stop := chromedp.NewContext(allocated, chromedp.WithErrorf(t.Logf))
	t.Cleanup(stop)
	ctx, stopWaiting := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stopWaiting)
	b.Ctx = ctx
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError {
				b.complain(fmt.Sprint(e.Args))
			}
		case *runtime.EventExceptionThrown:
			b.complain(e.ExceptionDetails.Error())
		}
	})
	b.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(keepNotes).Do(ctx)
		return err
	}))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, c := range b.complaints {
			t.Errorf("the page complains: %s", c)
		}
	})
	return b
}

// keepNotes has a page keep what it told its user, which it shows for some seconds only.
const keepNotes = `window.notes = [];
	new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
		if (node.classList?.contains("note")) notes.push(node.textContent);
	}))).observe(document, {childList: true, subtree: true});`

func (b *Page) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// Do runs browser actions, each of which waits for what it needs.
func (b *Page) Do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.Ctx, actions...); err != nil {
		var text string
		_ = chromedp.Run(b.Ctx, chromedp.Text("body", &text, chromedp.ByQuery))
		b.Fatalf("%v; the page shows:\n%s", err, text)
	}
}

// Wait waits until a condition with a text in it holds in the page.
func (b *Page) Wait(condition, text string) {
	b.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		b.Fatal(err)
	}
	b.Do(chromedp.Poll(fmt.Sprintf(condition, quoted), nil, chromedp.WithPollingTimeout(PollTimeout)))
}

// Press clicks the first button with this label that is inside a place.
func (b *Page) Press(place, label string) {
	b.Helper()
	b.Do(chromedp.Poll(fmt.Sprintf(
		`(() => { const b = [...document.querySelectorAll(%q + " button")].find((e) => e.innerText === %q && !e.disabled);
			if (b) b.click(); return Boolean(b); })()`, place, label), nil, chromedp.WithPollingTimeout(PollTimeout)))
}

// Picture keeps a screenshot for a person to look at.
func (b *Page) Picture(name string) {
	b.Helper()
	var png []byte
	b.Do(chromedp.FullScreenshot(&png, 100))
	dir := filepath.Join("..", "..", "build", "pictures")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.Fatal(err)
	}
}
