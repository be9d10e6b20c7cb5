package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/weirmq/weir/test/chromium"
)

// shownAt has a page note when its overview has a line.
const shownAt = `new MutationObserver((changes, observer) => {
	if (!document.querySelector("main tbody tr")) return;
	observer.disconnect();
	window.shownMs = performance.now();
}).observe(document, {childList: true, subtree: true});`

func TestManyQueuesAreShownAtOnceAndCountedWhereTheyAreSeen(t *testing.T) {
	b := open(t)
	for i := range 120 {
		b.db.Exec(t, "select weir.create_queue($1)", fmt.Sprintf("queue-%03d", i))
	}
	b.db.Exec(t, "select weir.send_batch('queue-000', array_fill('1'::jsonb, array[1234]))")
	b.db.Exec(t, "select weir.send_batch('queue-090', array_fill('1'::jsonb, array[765]))")
	b.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(shownAt).Do(ctx)
		return err
	}), chromedp.Navigate(b.url+"/#/"))
	b.see("1,234")
	// The goal is 200 ms on a machine that has nothing else to do.
	if ms := b.number("shownMs"); ms > 1000 {
		t.Errorf("the names were shown after %v ms", ms)
	} else {
		t.Logf("the names were shown after %v ms", ms)
	}
	if counted := b.number(`document.querySelectorAll("main tbody tr:not([aria-busy])").length`); counted > 40 {
		t.Errorf("%v queues were counted, of which far fewer are in sight", counted)
	}
	b.Picture("many")
	b.Do(chromedp.ScrollIntoView(`tr[data-key="queue-090"]`, chromedp.ByQuery))
	b.see("765")
	b.Press("main", "Show 100 more")
	b.see("queue-119")
	b.search("#search", "queue-10")
	b.see("queue-109")
	b.Wait("document.querySelectorAll('main tbody tr:not([aria-busy])').length === 10 && %s", "all that were found")
}

func TestAnOpenPageCostsTheDatabaseAHundredthOfACore(t *testing.T) {
	b := open(t)
	b.backlog()
	for _, address := range []string{"/#/", "/#/queues/orders"} {
		b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+address))
		b.see("orders")
		// From the end of the second look on: the first may need much that later ones do not.
		const looks = `(() => {
			const all = performance.getEntriesByType("resource").filter((e) => e.name.includes("/v1/") && e.responseEnd);
			const first = all.filter((e) => /v1[/]queues([/]orders)?$/.test(e.name)).map((e) => e.startTime);
			return first.length < 3 ? 0 : all.filter((e) => e.startTime >= first[1] && e.startTime < first[2])
				.reduce((n, e) => n + e.serverTiming[0].duration, 0) / (first[2] - first[1]);
		})()`
		b.Do(chromedp.Poll(looks+" > 0", nil, chromedp.WithPollingTimeout(chromium.PollTimeout)))
		if share := b.number(looks); share > 0.011 {
			t.Errorf("%s costs %.1f %% of a core", address, 100*share)
		}
	}
}

func TestAPageThatIsHiddenAsksNothing(t *testing.T) {
	b := open(t)
	b.db.Exec(t, "select weir.create_queue('orders')")
	b.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.see("Nothing waits for default.")
	other := b.tab() // which hides the first
	other.Do(chromedp.Navigate(b.url + "/#/queues/orders"))
	b.Do(chromedp.Evaluate("performance.clearResourceTimings()", nil))
	other.asked("/peek", 3)
	if asked := b.askedSoFar("/v1/"); asked > 0 {
		t.Errorf("the hidden page asked %d times", asked)
	}
	b.db.Exec(t, `select weir.send('orders', '{"dish": "cake"}')`)
	b.front()
	b.see(`{"dish":"cake"}`)
}

func TestTheNextLookWaitsForAHundredTimesWhatTheLastOneTook(t *testing.T) {
	b := open(t)
	b.Do(chromedp.Navigate(b.url + "/#/"))
	b.see("There is no queue yet")
	var pauses []float64
	b.Do(chromedp.Evaluate(`import("/page/pace.js").then(({failedMs, openingMs, pauseMs}) =>
		[pauseMs(0), pauseMs(15), pauseMs(50), pauseMs(3000), pauseMs(3000, openingMs), pauseMs(3000, failedMs)])`, &pauses,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if got, want := fmt.Sprint(pauses), "[2000 2000 5000 300000 5000 30000]"; got != want {
		t.Errorf("the pauses are %s, want %s", got, want)
	}
}
