package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
)

// token makes one for some queues and verbs.
func (b *browser) token(name, queues, verbs string) string {
	b.Helper()
	token, digest := auth.NewToken()
	b.db.Exec(b, "select weir.create_token($1, $2, queues => $3::text[], verbs => $4::text[])", name, digest, queues,
		verbs)
	return token
}

// tab opens another page of the same browser.
func (b *browser) tab() *browser {
	b.Helper()
	ctx, stop := chromedp.NewContext(b.ctx)
	b.Cleanup(stop)
	return &browser{T: b.T, ctx: ctx, db: b.db, url: b.url}
}

// front has the browser show this page rather than another, which is hidden then.
func (b *browser) front() {
	b.Helper()
	b.do(page.BringToFront())
}

func TestATokenThatMayOnlySendFindsAWayToSend(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.db.Exec(t, "select weir.create_queue('orders.eu'), weir.create_queue('secret')")
	b.do(chromedp.Navigate(b.url))
	b.signIn(b.token("till", "{orders.*}", "{produce}"))
	b.see("may send messages, but not look")
	b.see("orders.*")
	b.picture("sender")
	b.press("main", "Send a message")
	b.fill("field-queue", "secret")
	b.press("dialog", "Send")
	b.see("secret")
	b.fill("field-queue", "orders.eu")
	b.press("dialog", "Send")
	b.toldSent("orders.eu", 1)
	b.do(chromedp.Navigate(b.url + "/#/queues/orders.eu"))
	b.see("orders.eu")
	b.press("main", "Send a message")
	b.press("dialog", "Send")
	b.toldSent("orders.eu", 2)
	b.do(chromedp.WaitNotVisible("#trouble", chromedp.ByQuery))
	if n := pgtest.QueryVal[int64](t, b.db, "select waiting from weir.stats('orders.eu')"); n != 2 {
		t.Errorf("%d messages wait, want 2", n)
	}
}

func TestASecondTabNeedsNoTokenAndEndsWithTheFirst(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.do(chromedp.Navigate(b.url))
	b.signIn(b.token("boss", "{*}", "{admin}"))
	b.see("orders")
	second := b.tab()
	second.do(chromedp.Navigate(b.url + "/#/queues/orders"))
	second.see("Waiting, all groups")
	second.press("header", "Sign out")
	second.see("This server asks for a token")
	b.front()
	b.see("This server asks for a token")
	third := b.tab()
	third.do(chromedp.Navigate(b.url))
	third.signIn(b.token("viewer", "{*}", "{read}"))
	third.see("orders")
	b.front()
	b.see("viewer, read only") // it was asked for a token, and takes that one
}

func TestARefusedTokenGoesNotRoundBetweenTabs(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.do(chromedp.Navigate(b.url))
	b.signIn(b.token("boss", "{*}", "{admin}"))
	b.see("There is no queue yet")
	second := b.tab()
	second.do(chromedp.Navigate(b.url))
	second.see("There is no queue yet")
	b.db.Exec(t, "select weir.revoke_token('boss')")
	b.front()
	b.see("This server asks for a token")
	second.front()
	second.see("This server asks for a token")
}

func TestEveryButtonHasANameOfItsOwn(t *testing.T) {
	b := open(t)
	b.busy()
	for i := range 8 {
		b.db.Exec(t, "select weir.create_group('orders', $1)", fmt.Sprintf("group-%d", i))
	}
	b.do(chromedp.Navigate(b.url + "/#/queues/orders"))
	for tab, text := range map[string]string{
		"Messages": "table-6", "Schedules": "closing-time", "Workflows": "menu-7", "Dead letters": "has no dead letters",
	} {
		b.press("main", tab)
		b.see(text)
		var names []string
		b.do(chromedp.Evaluate(`[...document.querySelectorAll("main button")].filter((e) => !e.closest("td.body"))
			.map((e) => e.getAttribute("aria-label") || e.innerText)`, &names))
		slices.Sort(names)
		if len(names) < 40 {
			t.Fatalf("only the buttons %q", names)
		}
		for i := 1; i < len(names); i++ {
			if names[i] == names[i-1] || names[i] == "" {
				t.Errorf("in %s, two buttons are called %q", tab, names[i])
			}
		}
	}
}

func TestALinkShowsTheSameTabGroupAndFilter(t *testing.T) {
	b := open(t)
	b.busy()
	b.db.Exec(t, "select weir.create_queue('other')")
	b.do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.press("main", "Parked keys")
	b.see("No key of default is parked.")
	b.do(chromedp.SetValue(`select[aria-label="Group"]`, "per-customer", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector('[aria-label="Group"]').dispatchEvent(new Event("change"))`, nil))
	b.see("no table")
	reopened := b.reopened()
	reopened.see("no table")
	b.front()
	b.press("main", "Messages")
	b.see("table-6")
	b.search(`input[aria-label="Find in these messages"]`, "table-6")
	b.wait("!document.querySelector('section').innerText.includes(%s)", "table-5")
	reopened = b.reopened()
	reopened.see("table-6")
	reopened.wait("!document.querySelector('section').innerText.includes(%s)", "table-5")
	b.front()
	b.do(chromedp.Navigate(b.url + "/#/"))
	b.see("other")
	b.search("#search", "oth")
	b.wait("!document.querySelector('table').innerText.includes(%s)", "orders")
	reopened = b.reopened()
	reopened.see("other")
	reopened.wait("!document.querySelector('table').innerText.includes(%s)", "orders")
}

// search types into a field of the page.
func (b *browser) search(field, text string) {
	b.Helper()
	b.do(chromedp.SetValue(field, text, chromedp.ByQuery), chromedp.Evaluate(fmt.Sprintf(
		"document.querySelector(%q).dispatchEvent(new Event('input'))", field), nil))
}

// reopened is another page with the address of this one.
func (b *browser) reopened() *browser {
	b.Helper()
	var address string
	b.do(chromedp.Location(&address))
	other := b.tab()
	other.do(chromedp.ActionFunc(func(ctx context.Context) error { return chromedp.Navigate(address).Do(ctx) }))
	return other
}
