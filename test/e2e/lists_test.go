package e2e_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
	"github.com/weirmq/weir/test/chromium"
)

// pressKey clicks the button with this data-key.
func (b *browser) pressKey(key string) {
	b.Helper()
	b.Do(chromedp.Poll(fmt.Sprintf(
		`(() => { const b = document.querySelector('[data-key="%s"]:not(:disabled)');
			if (b) b.click(); return Boolean(b); })()`,
		key), nil, chromedp.WithPollingTimeout(chromium.PollTimeout)))
}

// busy makes a queue with something in each of its lists.
func (b *browser) busy() {
	b.Helper()
	for _, sql := range []string{
		"select weir.create_queue('orders', lanes => 1)",
		"select weir.create_group('orders', 'per-customer', ordered => true)",
		"select weir.send('orders', jsonb_build_object('dish', 'soup', 'table', i), key => 'table-' || i) " +
			"from generate_series(1, 6) i",
		"select weir.send('orders', '{\"dish\": \"cake\"}', delay => '2 hours')",
		"select set_config('application_name', 'kitchen-1', false), weir.receive('orders', max => 2, lease => '5 days')",
		"select weir.nack('orders', claim_id, array[id], '10 minutes', 'the oven is cold') from weir.receive('orders')",
		"select weir.nack('orders', claim_id, array[id], '1 hour', 'no table') from weir.receive('orders', 'per-customer')",
		"select weir.schedule('closing-time', 'orders', 'close', cron => '0 23 * * *', time_zone => 'Europe/Vienna')",
		"select weir.schedule('stock', 'orders', 'count', every => '15 minutes')",
		"select weir.start_chain('orders', array['{\"kind\": \"cook\"}', '{\"kind\": \"serve\"}']::jsonb[], 'menu-7')",
	} {
		b.db.Exec(b, sql)
	}
}

func TestTheListsOfAQueueShowWhatItIsAt(t *testing.T) {
	b := open(t)
	b.busy()
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Claimed")
	b.see("kitchen-1")
	b.see("in 5 d")
	b.Do(chromedp.Evaluate(`void fetch("v1/queues/orders/groups/default/receive", {method: "POST",
		headers: {"content-type": "application/json"}, body: '{"lease_ms": 3600000}'})`, nil))
	b.again()
	b.see("a client at 127.0.0.1")
	b.Press("main", "Delayed, retries")
	b.see("retry")
	b.see("the oven is cold")
	b.see(`{"dish":"cake"}`)
	b.Press("main", "Parked keys")
	b.see("No key of default is parked.")
	b.Do(chromedp.Evaluate(`(() => { const pick = document.querySelector('[aria-label="Group"]');
		pick.value = "per-customer"; pick.dispatchEvent(new Event("change")); })()`, nil))
	b.see(pgtest.QueryVal[string](t, b.db, "select key from weir.parked_keys('orders', 'per-customer')"))
	b.see("no table")
	b.Press("main", "Workflows")
	b.see("menu-7")
	b.see("0 of 2")
	b.Press("main", "Steps")
	b.see("planned")
	b.Press("dialog", "Close")
	b.db.Exec(t, "select weir.send('orders', '1'), weir.pop('orders', max => 100)")
	b.Press("main", "Schedules")
	b.see("0 23 * * * (Europe/Vienna)")
	b.see("every 15 min")
	b.pressKey("Pause stock")
	b.told("stock is paused.")
	b.pressKey("Resume stock")
	b.told("stock goes on.")
	b.pressKey("Delete stock")
	b.Press("dialog", "Delete")
	b.told("stock is gone.")
	if n := pgtest.QueryVal[int64](t, b.db, "select count(*) from weir.list_schedules()"); n != 1 {
		t.Errorf("%d schedules are left, want 1", n)
	}
}

func TestAListFollowsWhatHappensWithoutBeingAsked(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Claimed")
	b.see("default has nothing claimed.")
	b.db.Exec(t, "select weir.send('orders', '1')")
	claim := pgtest.QueryVal[int64](t, b.db, "select claim_id from weir.receive('orders', lease => '1 hour')")
	b.see(strconv.FormatInt(claim, 10))
	b.db.Exec(t, "select weir.ack_all('orders', $1)", claim)
	b.see("default has nothing claimed.")
}

func TestTheTabsOfAQueueAreUsedByKeyboard(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url+"/#/queues/orders"), chromedp.WaitVisible(`[data-key="Messages"]`, chromedp.ByQuery),
		chromedp.Focus(`[data-key="Messages"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.KeyEvent(kb.Enter))
	b.see("default has nothing claimed.")
	var selected, label string
	b.Do(chromedp.Evaluate(`document.querySelector('[aria-selected="true"]').innerText`, &selected),
		chromedp.Evaluate(`document.querySelector('[role="tabpanel"]').getAttribute("aria-label")`, &label))
	if selected != "Claimed" || label != selected {
		t.Errorf("selected is %q, the panel is %q, want Claimed", selected, label)
	}
	b.Do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Enter))
	b.see("No workflow of orders runs or ended lately.")
}

func TestAReadOnlyServerOffersNothingInTheLists(t *testing.T) {
	b := openWith(t, server.Options{Access: auth.Options{ReadOnly: true}})
	b.busy()
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Press("main", "Schedules")
	b.see("closing-time")
	b.lacks("Pause", "Delete", "Resume")
	b.Press("main", "Claimed")
	b.see("kitchen-1")
}

func TestTheListsFitAPhoneAndBothThemes(t *testing.T) {
	b := open(t)
	b.busy()
	for _, theme := range []string{"light", "dark"} {
		b.Do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{
			Name: "prefers-color-scheme", Value: theme,
		}}), chromedp.Navigate(b.url+"/#/queues/orders"))
		for tab, text := range map[string]string{
			"Claimed": "kitchen-1", "Delayed, retries": "retry", "Schedules": "closing-time", "Workflows": "menu-7",
		} {
			b.Do(chromedp.EmulateViewport(1280, 900))
			b.Press("main", tab)
			b.see(text)
			b.Picture(fmt.Sprintf("list-%s-%s", tab, theme))
			b.Do(chromedp.EmulateViewport(390, 800))
			b.Picture(fmt.Sprintf("list-%s-phone-%s", tab, theme))
			var wider bool
			b.Do(chromedp.Evaluate("document.documentElement.scrollWidth > innerWidth", &wider))
			if wider {
				t.Errorf("%s in the %s theme is wider than a phone", tab, theme)
			}
		}
	}
}
