// Package e2e_test uses the whole as its users do: the page, in a real browser.
package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
)

func TestMain(m *testing.M) {
	pgtest.SetInstaller(migrate.Install)
	pgtest.Main(m)
}

// pollTimeout is how long a page may take to show something: it asks a slow database seldom.
const pollTimeout = 4 * time.Minute

// browser is one page of a server of its own, in Chromium.
type browser struct {
	*testing.T

	ctx context.Context //nolint:containedctx // chromedp hands its browser round in it
	db  *pgtest.DB
	url string

	mu         sync.Mutex
	complaints []string // what the page wrote to the console as an error
}

func open(t *testing.T) *browser { return openWith(t, server.Options{}) }

// openWith opens the page of a server with options.
func openWith(t *testing.T, options server.Options) *browser {
	t.Helper()
	b := browse(t)
	b.db = pgtest.New(t, pgtest.Options{})
	b.serve(options)
	return b
}

// browse starts a browser.
func browse(t *testing.T) *browser {
	t.Helper()
	b := &browser{T: t}
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
	b.ctx = ctx
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
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
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

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// serve runs the server that shows the page.
func (b *browser) serve(options server.Options) {
	b.Helper()
	client, err := engine.Open(b.Context(), b.db.DSN, engine.Options{MaxConns: 4})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	var listener net.Listener
	if listener, err = server.Listen(b.Context(), "127.0.0.1:0"); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	s := server.New(client, options)
	go func() { ended <- s.Serve(ctx, listener) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Errorf("server: %v", err)
		}
	})
	b.url = "http://" + listener.Addr().String()
}

// do runs browser actions, each of which waits for what it needs.
func (b *browser) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		var text string
		_ = chromedp.Run(b.ctx, chromedp.Text("body", &text, chromedp.ByQuery))
		b.Fatalf("%v; the page shows:\n%s", err, text)
	}
}

// see waits until the page shows a text.
func (b *browser) see(text string) {
	b.Helper()
	b.wait("document.body.innerText.includes(%s)", text)
}

// told waits until the page has told what happened.
func (b *browser) told(text string) {
	b.Helper()
	b.wait("notes.some((note) => note.includes(%s))", text)
}

// toldSent waits until the page has told so many times that it sent a message, the last time with the id of the
// newest one that waits in a queue.
func (b *browser) toldSent(queue string, times int) {
	b.Helper()
	b.wait(fmt.Sprintf("notes.filter((note) => note.includes(%%s)).length === %d", times), "Sent: message ")
	b.told(fmt.Sprintf("Sent: message %d.",
		pgtest.QueryVal[int64](b.T, b.db, "select max(id) from weir.peek($1, max => 100)", queue)))
}

// choose ticks a message of a list.
func (b *browser) choose(id string) {
	b.Helper()
	b.do(chromedp.Click(`input[aria-label="Choose message `+id+`"]`, chromedp.ByQuery))
}

// wait waits until a condition with a text in it holds in the page.
func (b *browser) wait(condition, text string) {
	b.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		b.Fatal(err)
	}
	b.do(chromedp.Poll(fmt.Sprintf(condition, quoted), nil, chromedp.WithPollingTimeout(pollTimeout)))
}

// press clicks the first button with this label that is inside a place.
func (b *browser) press(place, label string) {
	b.Helper()
	b.do(chromedp.Poll(fmt.Sprintf(
		`(() => { const b = [...document.querySelectorAll(%q + " button")].find((e) => e.innerText === %q && !e.disabled);
			if (b) b.click(); return Boolean(b); })()`, place, label), nil, chromedp.WithPollingTimeout(pollTimeout)))
}

// again has the page read its numbers now, instead of when the database has rested long enough.
func (b *browser) again() {
	b.Helper()
	b.do(chromedp.Click("#again", chromedp.ByQuery))
}

// fill sets a field of the open dialog.
func (b *browser) fill(field, value string) {
	b.Helper()
	b.do(chromedp.SetValue("dialog #"+field, value, chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(
			`document.querySelector("dialog #%s").dispatchEvent(new Event("input", {bubbles: true}))`, field), nil))
}

// picture keeps a screenshot for a person to look at.
func (b *browser) picture(name string) {
	b.Helper()
	var png []byte
	b.do(chromedp.FullScreenshot(&png, 100))
	dir := filepath.Join("..", "..", "build", "pictures")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.Fatal(err)
	}
}

func TestAQueueLivesItsLifeOnThePage(t *testing.T) {
	b := open(t)
	b.do(chromedp.Navigate(b.url))
	b.see("There is no queue yet")
	b.press("main", "Create queue")
	b.fill("field-name", "orders")
	b.press("dialog", "Create")
	b.see("Waiting, all groups")
	b.press("main", "Send a message")
	b.fill("field-payload", `{"dish": "soup"}`)
	b.fill("field-key", "table-7")
	b.press("dialog", "Send")
	b.toldSent("orders", 1)
	b.press("main", "Messages")
	b.see(`{"dish":"soup"}`)
	if n := pgtest.QueryVal[int64](t, b.db, "select waiting from weir.stats('orders')"); n != 1 {
		t.Errorf("%d messages wait, want 1: looking must consume nothing", n)
	}
	b.press("main", "Pause")
	b.see("nothing is delivered")
	b.press("main", "Resume")
	b.told("orders goes on.")
	b.press("main", "Purge")
	b.fill("phrase", "orders")
	b.press("dialog", "Purge")
	b.told("1 message dropped.")
	b.press("main", "Drop")
	b.fill("phrase", "orders")
	b.press("dialog", "Drop")
	b.see("There is no queue yet")
	if n := pgtest.QueryVal[int64](t, b.db, "select count(*) from weir.list_queues()"); n != 0 {
		t.Errorf("%d queues are left", n)
	}
}

func TestDeadLettersAreSentBackAndDiscardedFromThePage(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.db.Exec(t, "select weir.send_batch('orders', array['1', '2', '3']::jsonb[])")
	b.db.Exec(t, `select weir.reject('orders', claim_id, array[id], 'no such dish <b>')
		from weir.receive('orders', max => 3)`)
	b.do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.press("main", "Dead letters")
	b.see("no such dish <b>")
	b.picture("dead-letters")
	b.choose(pgtest.QueryVal[string](t, b.db, "select min(id)::text from weir.dead_letters('orders')"))
	b.press("main", "Redrive chosen (1)")
	b.told("1 dead letter sent back.")
	b.press("main", "Discard all")
	b.fill("phrase", "orders")
	b.press("dialog", "Discard")
	b.told("2 dead letters removed.")
	if n := pgtest.QueryVal[int64](t, b.db, "select waiting * 10 + dead from weir.stats('orders')"); n != 10 {
		t.Errorf("waiting and dead are %02d, want 10", n)
	}
}

func TestReadOnlyAndErrorsAreShown(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.do(chromedp.Navigate(b.url+"/#/queues/orders"), chromedp.WaitVisible("#read-only", chromedp.ByQuery))
	b.press("main", "Send a message")
	b.fill("field-payload", `{"dish": `)
	b.press("dialog", "Send")
	b.see("JSON")
	b.press("dialog", "Cancel")
	b.do(chromedp.Click("#read-only", chromedp.ByQuery))
	b.do(chromedp.Poll(`[...document.querySelectorAll("main button")].filter((e) => e.innerText === "Purge")
		.every((e) => e.disabled) && document.querySelectorAll("main button").length > 5`, nil,
		chromedp.WithPollingTimeout(pollTimeout)))
	b.do(chromedp.Navigate(b.url + "/#/queues/missing"))
	b.see("there is no queue \"missing\"")
}

func TestThePageFitsAPhoneAndBothThemes(t *testing.T) {
	b := open(t)
	for i := range 12 {
		b.db.Exec(t, "select weir.create_queue($1)", fmt.Sprintf("queue-%d", i))
	}
	b.db.Exec(t, "select weir.send_batch('queue-1', array_fill('1'::jsonb, array[1234]))")
	b.db.Exec(t, "select weir.create_group('queue-1', 'audit', ordered => true)")
	b.db.Exec(t, "select weir.pause('queue-2')")
	for _, theme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{
			Name: "prefers-color-scheme", Value: theme,
		}}), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(b.url+"/#/"))
		b.see("1,234")
		b.picture("overview-" + theme)
		b.do(chromedp.Navigate(b.url + "/#/queues/queue-1"))
		b.see("ordered")
		b.picture("queue-" + theme)
		b.do(chromedp.EmulateViewport(390, 800))
		b.picture("queue-phone-" + theme)
		b.do(chromedp.Navigate(b.url + "/#/"))
		b.see("queue-11")
		b.picture("overview-phone-" + theme)
		var wider bool
		b.do(chromedp.Evaluate("document.documentElement.scrollWidth > innerWidth", &wider))
		if wider {
			t.Errorf("the %s page is wider than a phone", theme)
		}
		var back string
		b.do(chromedp.Evaluate("getComputedStyle(document.body).backgroundColor", &back))
		if dark := strings.HasPrefix(back, "rgb(17"); dark != (theme == "dark") {
			t.Errorf("in the %s theme the background is %s", theme, back)
		}
	}
}
