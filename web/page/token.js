// The token is kept for this tab and sent as a header: there is nothing that a browser would send on its own. A tab
// that has none asks the others of this server, so that it is typed once and gone with the last of them.

const kept = "weir-token";
const others = new BroadcastChannel(`weir-token ${new URL(".", document.baseURI).pathname}`);
const refused = new Set();
let taken; // what to do with a token that another tab has
let ended; // what to do when another tab signed out

export const token = {
  get: () => sessionStorage.getItem(kept),
  set: (text) => sessionStorage.setItem(kept, text),
  forget: () => sessionStorage.removeItem(kept),
  /** refuse forgets a token that the server does not take, and takes it from no other tab. */
  refuse() {
    if (token.get()) refused.add(token.get());
    token.forget();
  },
  /** borrow calls back with a token that another tab has. */
  borrow(work) {
    taken = work;
    others.postMessage({ ask: true });
  },
  /** share gives the token to tabs that have none. */
  share: () => token.get() && others.postMessage({ token: token.get() }),
  /** end has the other tabs sign out, too. */
  end: () => others.postMessage({ end: true }),
  /** onEnd calls back when another tab signed out. */
  onEnd(work) {
    ended = work;
  },
};

others.addEventListener("message", ({ data }) => {
  if (data.ask) token.share();
  if (data.end) ended?.();
  if (data.token && !token.get() && !refused.has(data.token)) taken?.(data.token);
});
