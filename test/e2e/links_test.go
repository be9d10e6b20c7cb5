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
	"github.com/weirmq/weir/test/chromium"
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
	ctx, stop := chromedp.NewContext(b.Ctx)
	b.Cleanup(stop)
	return &browser{Page: &chromium.Page{T: b.T, Ctx: ctx}, db: b.db, url: b.url}
}

// front has the browser show this page rather than another, which is hidden then.
func (b *browser) front() {
	b.Helper()
	b.Do(page.BringToFront())
}

func TestATokenThatMayOnlySendFindsAWayToSend(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.db.Exec(t, "select weir.create_queue('orders.eu'), weir.create_queue('secret')")
	b.Do(chromedp.Navigate(b.url))
	b.signIn(b.token("till", "{orders.*}", "{produce}"))
	b.see("may send messages, but not look")
	b.see("orders.*")
	b.Picture("sender")
	b.Press("main", "Send a message")
	b.fill("field-queue", "secret")
	b.Press("dialog", "Send")
	b.see("secret")
	b.fill("field-queue", "orders.eu")
	b.Press("dialog", "Send")
	b.toldSent("orders.eu", 1)
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders.eu"))
	b.see("orders.eu")
	b.Press("main", "Send a message")
	b.Press("dialog", "Send")
	b.toldSent("orders.eu", 2)
	b.Do(chromedp.WaitNotVisible("#trouble", chromedp.ByQuery))
	if n := pgtest.QueryVal[int64](t, b.db, "select waiting from weir.stats('orders.eu')"); n != 2 {
		t.Errorf("%d messages wait, want 2", n)
	}
}

func TestASecondTabNeedsNoTokenAndEndsWithTheFirst(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url))
	b.signIn(b.token("boss", "{*}", "{admin}"))
	b.see("orders")
	second := b.tab()
	second.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	second.see("Waiting, all groups")
	second.Press("header", "Sign out")
	second.see("This server asks for a token")
	b.front()
	b.see("This server asks for a token")
	third := b.tab()
	third.Do(chromedp.Navigate(b.url))
	third.signIn(b.token("viewer", "{*}", "{read}"))
	third.see("orders")
	b.front()
	b.see("viewer, read only") // it was asked for a token, and takes that one
}

func TestARefusedTokenGoesNotRoundBetweenTabs(t *testing.T) {
	b := openWith(t, server.Options{AskTokens: true})
	b.Do(chromedp.Navigate(b.url))
	b.signIn(b.token("boss", "{*}", "{admin}"))
	b.see("There is no queue yet")
	second := b.tab()
	second.Do(chromedp.Navigate(b.url))
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
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	for tab, text := range map[string]string{
		"Messages": "table-6", "Schedules": "closing-time", "Workflows": "menu-7", "Dead letters": "has no dead letters",
	} {
		b.Press("main", tab)
		b.see(text)
		var names []string
		b.Do(chromedp.Evaluate(`[...document.querySelectorAll("main button")].filter((e) => !e.closest("td.body"))
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
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Parked keys")
	b.see("No key of default is parked.")
	b.Do(chromedp.SetValue(`select[aria-label="Group"]`, "per-customer", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector('[aria-label="Group"]').dispatchEvent(new Event("change"))`, nil))
	b.see("no table")
	reopened := b.reopened()
	reopened.see("no table")
	b.front()
	b.Press("main", "Messages")
	b.see("table-6")
	b.search(`input[aria-label="Find in these messages"]`, "table-6")
	b.Wait("!document.querySelector('section').innerText.includes(%s)", "table-5")
	reopened = b.reopened()
	reopened.see("table-6")
	reopened.Wait("!document.querySelector('section').innerText.includes(%s)", "table-5")
	b.front()
	b.Do(chromedp.Navigate(b.url + "/#/"))
	b.see("other")
	b.search("#search", "oth")
	b.Wait("!document.querySelector('table').innerText.includes(%s)", "orders")
	reopened = b.reopened()
	reopened.see("other")
	reopened.Wait("!document.querySelector('table').innerText.includes(%s)", "orders")
}

// search types into a field of the page.
func (b *browser) search(field, text string) {
	b.Helper()
	b.Do(chromedp.SetValue(field, text, chromedp.ByQuery), chromedp.Evaluate(fmt.Sprintf(
		"document.querySelector(%q).dispatchEvent(new Event('input'))", field), nil))
}

// reopened is another page with the address of this one.
func (b *browser) reopened() *browser {
	b.Helper()
	var address string
	b.Do(chromedp.Location(&address))
	other := b.tab()
	other.Do(chromedp.ActionFunc(func(ctx context.Context) error { return chromedp.Navigate(address).Do(ctx) }))
	return other
}
