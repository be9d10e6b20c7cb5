/**
 * Reads JSON in which ids may be larger than a number of JavaScript holds exactly: such ids become texts. Ids are
 * fields such as `id` and `claim_id` of objects in a list, those of the details of messages, and the items of a list
 * `ids`; nothing within a payload is touched.
 */
export function parseExact(text: string, idDepth = itemDepth): unknown {
  return JSON.parse(/\d{16}/.test(text) ? quoteIds(text, idDepth) : text);
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const large = /^\d{16,}$/;

/** How deep an answer's envelope is: {"messages":[{"id":1}]} has an id at depth 3, {"ids":[1]} at depth 2. */
const itemDepth = 3;
const listDepth = 2;

/** How much deeper the details of a message have ids: {"id":1,"details":{"group":{"claim_id":1}}}. */
const detailsDepth = 2;

/** The fields whose values are ids. */
const idFields = new Set(['"id"', '"claim_id"', '"last_id"', '"workflow"', '"behind"']);

function quoteIds(text: string, idDepth: number): string {
  let depth = 0;
  let field = "";
  let last = "";
  let outer = ""; // the field of the envelope that it is in
  return text.replace(tokens, (token) => {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token === ":") {
      field = last;
      if (depth === idDepth) outer = last;
    }
    last = token;
    const isItem = depth === idDepth || (depth === idDepth + detailsDepth && outer === '"details"');
    const isId = isItem ? idFields.has(field) : depth === listDepth && field === '"ids"';
    return isId && large.test(token) ? `"${token}"` : token;
  });
}
