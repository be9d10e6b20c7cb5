// JSON whose documents stay the text they are: JavaScript's numbers have 53 bits and no trailing zeros, so a payload
// that went through them would come out as another.

// documents are the members of an answer that are its users' own JSON.
const documents = new Set(["payload", "headers"]);

/** Raw is a JSON document as its text. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
}

// stringEnd returns where the string ends that begins at a place.
function stringEnd(text, start) {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === "\\") before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
}

// valueEnd returns where the value ends that begins at a place.
function valueEnd(text, start) {
  if (text[start] === '"') return stringEnd(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const c = text[at];
    if (c === '"') at = stringEnd(text, at) - 1;
    else if (c === "{" || c === "[") depth++;
    else if (depth === 0 && ",]} \t\r\n".includes(c)) return at;
    else if ((c === "}" || c === "]") && --depth === 0) return at + 1;
  }
  return text.length;
}

// plain reads a value that is neither a string nor holds others. An integer of more digits than a number has stays
// text, which is all that an id has to be.
function plain(text) {
  const value = JSON.parse(text);
  return typeof value === "number" && /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? text : value;
}

/** parse reads an answer of the server. Documents stand in it or in the items of its lists, and become Raw. */
export function parse(text) {
  JSON.parse(text); // what follows expects that it is JSON
  let at = 0;
  const skip = () => {
    while (" \t\r\n".includes(text[at]) && at < text.length) at++;
    return text[at];
  };
  const slice = (end) => {
    const part = text.slice(at, end);
    at = end;
    return part;
  };
  const list = (close, each) => {
    at++;
    while (skip() !== close) {
      each();
      if (skip() === ",") at++;
    }
    at++;
  };
  const value = (holdsDocuments) => {
    const c = skip();
    if (c === "[") {
      const items = [];
      list("]", () => items.push(value(true)));
      return items;
    }
    if (c !== "{") return plain(slice(valueEnd(text, at)));
    const members = Object.create(null); // a group may be called __proto__
    list("}", () => {
      const name = JSON.parse(slice(stringEnd(text, at)));
      skip();
      at++; // the colon
      skip();
      const raw = holdsDocuments && documents.has(name) && text[at] !== "n"; // null is none
      members[name] = raw ? new Raw(slice(valueEnd(text, at))) : value(false);
    });
    return members;
  };
  return value(true);
}

/** write makes JSON of a request: Raw goes in as it is. */
export function write(value) {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${members.map(([name, v]) => `${JSON.stringify(name)}:${write(v)}`).join(",")}}`;
}

/** read takes what a person wrote as JSON, or says why it is none. */
export function read(text) {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`The payload is not JSON: ${error.message}`);
  }
  return new Raw(text);
}

const nothing = /\s*([}\]])/y; // of an object or a list

/** pretty sets a document in lines and changes nothing else of it. */
export function pretty(raw) {
  const text = raw.text;
  const lines = [];
  let depth = 0;
  let out = "";
  const line = () => {
    lines.push(out);
    out = "  ".repeat(depth);
  };
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (" \t\r\n".includes(c)) continue;
    if (c === '"') {
      const end = stringEnd(text, at);
      out += text.slice(at, end);
      at = end - 1;
    } else if (c === "{" || c === "[") {
      out += c;
      nothing.lastIndex = at + 1;
      const closed = nothing.exec(text);
      if (closed) {
        out += closed[1];
        at = nothing.lastIndex - 1;
      } else {
        depth++;
        line();
      }
    } else if (c === "}" || c === "]") {
      depth--;
      line();
      out += c;
    } else if (c === ",") {
      out += c;
      line();
    } else out += c === ":" ? ": " : c;
  }
  lines.push(out);
  return lines.join("\n");
}
