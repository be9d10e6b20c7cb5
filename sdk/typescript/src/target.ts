/** Reads where connect is to connect to. */

import { Code, refuse } from "./errors.js";

/** What libpq knows, as the form host=... may name it; pg leaves aside what it has no use for. */
const keywords = (
  "host hostaddr port dbname user password passfile connect_timeout client_encoding options application_name " +
  "fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout " +
  "sslmode sslnegotiation sslcert sslkey sslpassword sslrootcert sslcrl sslcrldir sslsni sslcompression sslcertmode " +
  "ssl_min_protocol_version ssl_max_protocol_version gssencmode gssdelegation krbsrvname channel_binding " +
  "require_auth target_session_attrs load_balance_hosts replication service"
).split(" ");

const hint =
  "Pass postgres://user@host/database, host=... dbname=..., or the http:// or https:// URL of a weir serve.";

/** What pg's Pool takes for a DSN, which is a URL or, as libpq has it, too, words: host=localhost dbname=app. */
export function databaseOf(target: string): { connectionString: string } {
  if (/^postgres(ql)?:\/\//.test(target)) return { connectionString: target };
  if (/^\s*\w+\s*=/.test(target)) return { connectionString: urlOf(target) };
  const scheme = /^[^/@?\s]*:\/\//.exec(target)?.[0];
  const got = scheme ? `the scheme ${scheme}` : target === "" ? "empty" : "neither a URL nor a DSN";
  throw refuse(Code.invalidArgument, `cannot connect to what is no database and no server: ${got}`, hint);
}

/** A DSN of words as a URL: pg reads what is said of TLS there only. */
function urlOf(words: string): string {
  const word = /\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/y;
  const query: string[] = [];
  let database = "";
  for (word.lastIndex = 0; words.slice(word.lastIndex).trim() !== "";) {
    const [, name = "", quoted, plain = ""] = word.exec(words) ?? [];
    if (!keywords.includes(name)) {
      const what = name === "" ? "it is not made of words name=value" : `there is no ${name}`;
      throw refuse(Code.invalidArgument, `cannot read the DSN: ${what}`, hint);
    }
    const value = encodeURIComponent((quoted ?? plain).replace(/\\(.)/g, "$1"));
    if (name === "dbname") database = value;
    else query.push(`${name}=${value}`);
  }
  return `postgres:///${database}?${query.join("&")}`;
}
