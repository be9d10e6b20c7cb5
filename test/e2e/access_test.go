package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
)

// signIn gives the page a token.
func (b *browser) signIn(token string) {
	b.Helper()
	b.see("This server asks for a token")
	b.Do(chromedp.SetValue("#token", token, chromedp.ByQuery))
	b.Press("main", "Sign in")
}

// lacks fails when the page has a button with one of some labels.
func (b *browser) lacks(labels ...string) {
	b.Helper()
	var found []string
	b.Do(chromedp.Evaluate(`[...document.querySelectorAll("main button")].map((e) => e.innerText)`, &found))
	for _, label := range labels {
		for _, have := range found {
			if have == label {
				b.Errorf("the page offers %q", label)
			}
		}
	}
}

func TestThePageAsksForATokenAndOffersWhatItAllows(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.db.Exec(t, "select weir.create_queue('orders.eu'), weir.create_queue('secret')")
	b.db.Exec(t, "select weir.send('orders.eu', '{\"dish\":\"soup\"}')")
	issue := func(name, queues, verbs string) string {
		token, digest := auth.NewToken()
		b.db.Exec(t, "select weir.create_token($1, $2, queues => $3::text[], verbs => $4::text[])", name, digest, queues,
			verbs)
		return token
	}
	viewer, boss := issue("viewer", "{orders.*}", "{read}"), issue("boss", "{*}", "{admin,produce}")
	b.Do(chromedp.Navigate(b.url))
	unknown, _ := auth.NewToken()
	b.signIn(unknown)
	b.see("the token is unknown, was revoked or has expired")
	for _, theme := range []string{"light", "dark"} {
		b.Do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{
			Name: "prefers-color-scheme", Value: theme,
		}}), chromedp.EmulateViewport(1280, 900))
		b.Picture("sign-in-" + theme)
		b.Do(chromedp.EmulateViewport(390, 800))
		b.Picture("sign-in-phone-" + theme)
		var wider bool
		b.Do(chromedp.Evaluate("document.documentElement.scrollWidth > innerWidth", &wider))
		if wider {
			t.Errorf("the %s sign-in is wider than a phone", theme)
		}
	}
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.signIn(viewer)
	b.see("orders.eu")
	b.see("viewer, read only")
	b.lacks("Create queue")
	var text string
	b.Do(chromedp.Text("body", &text, chromedp.ByQuery))
	if strings.Contains(text, "secret") || strings.Contains(text, viewer) {
		t.Errorf("the page shows %s", text)
	}
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders.eu"))
	b.see(`{"dish":"soup"}`)
	b.lacks("Send a message", "Pause", "Purge", "Drop", "Seek", "Add group")
	b.Do(chromedp.WaitNotVisible("#read-only", chromedp.ByQuery))
	b.Picture("read-only")
	b.Press("header", "Sign out")
	b.signIn(boss)
	b.see("Waiting, all groups")
	b.Press("main", "Pause")
	b.see("nothing is delivered")
	b.db.Exec(t, "select weir.revoke_token('boss')")
	b.again()
	b.see("This server asks for a token") // when the server has noticed
	if n := pgtest.QueryVal[int](t, b.db, "select count(*)::int from weir.list_queues() where paused"); n != 1 {
		t.Errorf("%d queues are paused, want 1", n)
	}
}

func TestAReadOnlyServerShowsAPageThatOffersNothing(t *testing.T) {
	b := openWith(t, server.Options{Access: auth.Options{ReadOnly: true}})
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.see("Waiting, all groups")
	b.see("read only")
	b.lacks("Send a message", "Pause", "Purge", "Drop", "Seek", "Add group")
}
