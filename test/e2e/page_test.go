// Package e2e_test uses the whole as its users do: the page, in a real browser.
package e2e_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/test/chromium"
)

func TestMain(m *testing.M) {
	pgtest.SetInstaller(migrate.Install)
	pgtest.Main(m)
}

// browser is one page of a server of its own, in Chromium.
type browser struct {
	*chromium.Page

	db  *pgtest.DB
	url string
}

func open(t *testing.T) *browser { return openWith(t, server.Options{}) }

// openWith opens the page of a server with options.
func openWith(t *testing.T, options server.Options) *browser {
	t.Helper()
	b := &browser{Page: chromium.Open(t)}
	b.db = pgtest.New(t, pgtest.Options{})
	b.serve(options)
	return b
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

// see waits until the page shows a text.
func (b *browser) see(text string) {
	b.Helper()
	b.Wait("document.body.innerText.includes(%s)", text)
}

// told waits until the page has told what happened.
func (b *browser) told(text string) {
	b.Helper()
	b.Wait("notes.some((note) => note.includes(%s))", text)
}

// toldSent waits until the page has told so many times that it sent a message, the last time with the id of the
// newest one that waits in a queue.
func (b *browser) toldSent(queue string, times int) {
	b.Helper()
	b.Wait(fmt.Sprintf("notes.filter((note) => note.includes(%%s)).length === %d", times), "Sent: message ")
	b.told(fmt.Sprintf("Sent: message %d.",
		pgtest.QueryVal[int64](b.T, b.db, "select max(id) from weir.peek($1, max => 100)", queue)))
}

// choose ticks a message of a list.
func (b *browser) choose(id string) {
	b.Helper()
	b.Do(chromedp.Click(`input[aria-label="Choose message `+id+`"]`, chromedp.ByQuery))
}

// again has the page read its numbers now, instead of when the database has rested long enough.
func (b *browser) again() {
	b.Helper()
	b.Do(chromedp.Click("#again", chromedp.ByQuery))
}

// fill sets a field of the open dialog.
func (b *browser) fill(field, value string) {
	b.Helper()
	b.Do(chromedp.SetValue("dialog #"+field, value, chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(
			`document.querySelector("dialog #%s").dispatchEvent(new Event("input", {bubbles: true}))`, field), nil))
}

func TestAQueueLivesItsLifeOnThePage(t *testing.T) {
	b := open(t)
	b.Do(chromedp.Navigate(b.url))
	b.see("There is no queue yet")
	b.Press("main", "Create queue")
	b.fill("field-name", "orders")
	b.Press("dialog", "Create")
	b.see("Waiting, all groups")
	b.Press("main", "Send a message")
	b.fill("field-payload", `{"dish": "soup"}`)
	b.fill("field-key", "table-7")
	b.Press("dialog", "Send")
	b.toldSent("orders", 1)
	b.Press("main", "Messages")
	b.see(`{"dish":"soup"}`)
	if n := pgtest.QueryVal[int64](t, b.db, "select waiting from weir.stats('orders')"); n != 1 {
		t.Errorf("%d messages wait, want 1: looking must consume nothing", n)
	}
	b.Press("main", "Pause")
	b.see("nothing is delivered")
	b.Press("main", "Resume")
	b.told("orders goes on.")
	b.Press("main", "Purge")
	b.fill("phrase", "orders")
	b.Press("dialog", "Purge")
	b.told("1 message dropped.")
	b.Press("main", "Drop")
	b.fill("phrase", "orders")
	b.Press("dialog", "Drop")
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
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Dead letters")
	b.see("no such dish <b>")
	b.Picture("dead-letters")
	b.choose(pgtest.QueryVal[string](t, b.db, "select min(id)::text from weir.dead_letters('orders')"))
	b.Press("main", "Redrive chosen (1)")
	b.told("1 dead letter sent back.")
	b.Press("main", "Discard all")
	b.fill("phrase", "orders")
	b.Press("dialog", "Discard")
	b.told("2 dead letters removed.")
	if n := pgtest.QueryVal[int64](t, b.db, "select waiting * 10 + dead from weir.stats('orders')"); n != 10 {
		t.Errorf("waiting and dead are %02d, want 10", n)
	}
}

func TestReadOnlyAndErrorsAreShown(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url+"/#/queues/orders"), chromedp.WaitVisible("#read-only", chromedp.ByQuery))
	b.Press("main", "Send a message")
	b.fill("field-payload", `{"dish": `)
	b.Press("dialog", "Send")
	b.see("JSON")
	b.Press("dialog", "Cancel")
	b.Do(chromedp.Click("#read-only", chromedp.ByQuery))
	b.Do(chromedp.Poll(`[...document.querySelectorAll("main button")].filter((e) => e.innerText === "Purge")
		.every((e) => e.disabled) && document.querySelectorAll("main button").length > 5`, nil,
		chromedp.WithPollingTimeout(chromium.PollTimeout)))
	b.Do(chromedp.Navigate(b.url + "/#/queues/missing"))
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
		b.Do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{
			Name: "prefers-color-scheme", Value: theme,
		}}), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(b.url+"/#/"))
		b.see("1,234")
		b.Picture("overview-" + theme)
		b.Do(chromedp.Navigate(b.url + "/#/queues/queue-1"))
		b.see("ordered")
		b.Picture("queue-" + theme)
		b.Do(chromedp.EmulateViewport(390, 800))
		b.Picture("queue-phone-" + theme)
		b.Do(chromedp.Navigate(b.url + "/#/"))
		b.see("queue-11")
		b.Picture("overview-phone-" + theme)
		var wider bool
		b.Do(chromedp.Evaluate("document.documentElement.scrollWidth > innerWidth", &wider))
		if wider {
			t.Errorf("the %s page is wider than a phone", theme)
		}
		var back string
		b.Do(chromedp.Evaluate("getComputedStyle(document.body).backgroundColor", &back))
		if dark := strings.HasPrefix(back, "rgb(17"); dark != (theme == "dark") {
			t.Errorf("in the %s theme the background is %s", theme, back)
		}
	}
}
