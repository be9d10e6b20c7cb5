/** Queues' own functions, whose names the engine tells: what calls them spares it the finding and the planning. */

import { createHash } from "node:crypto";

/** A call of a queue's own function, which does what the public one does that finds it. */
export interface OwnCall {
  readonly verb: string;
  /** The statement, with `{function}` for the name. */
  readonly text: string;
}

/** The defaults of a receive by the public function; the queue's own has none. */
export const maxDefault = 1;
export const leaseMsDefault = 30_000;

/** Statements that a client keeps, and so does each of its connections. */
export const keptMax = 256;

/** A statement, and the name under which connections prepare it. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * The statements that call queues' own functions; of those not asked for yet, how many calls there were. Nothing tells
 * when a queue is dropped or renamed; the call fails then, and its statement is forgotten.
 */
export class OwnCalls {
  private silent = false;
  private readonly calls = new Map<string, Statement | number>();

  /** askAfter calls go through the public function before a name is asked for: who makes few calls pays nothing. */
  constructor(private readonly askAfter = 8) {}

  /** The statement; "ask" when it is time to ask for the name, undefined when the public function is to be called. */
  find(call: OwnCall, queue: string): Statement | "ask" | undefined {
    const found = this.calls.get(key(call, queue)) ?? 0;
    if (typeof found === "object") return found;
    if (this.silent || (found === 0 && !this.hasRoom())) return undefined;
    this.calls.set(key(call, queue), found + 1);
    return found >= this.askAfter ? "ask" : undefined;
  }

  /** Has the name asked for at the next call: there will be many. */
  expect(call: OwnCall, queue: string): void {
    if (!this.calls.has(key(call, queue)) && this.calls.size < keptMax)
      this.calls.set(key(call, queue), this.askAfter);
  }

  /** Whether there is room for one more. Those called a few times make some, also those of no queue. */
  private hasRoom(): boolean {
    if (this.calls.size >= keptMax)
      for (const [key, known] of this.calls) if (typeof known === "number") this.calls.delete(key);
    return this.calls.size < keptMax;
  }

  /** Notes the name of a queue's own function and returns the statement that calls it. */
  keep(call: OwnCall, queue: string, name: string): Statement {
    const text = call.text.replace("{function}", () => name);
    const statement = { name: `weir_${createHash("sha1").update(text).digest("hex")}`, text };
    this.calls.set(key(call, queue), statement);
    return statement;
  }

  /** Has the name asked for anew, later. */
  forget(call: OwnCall, queue: string): void {
    this.calls.delete(key(call, queue));
  }

  /** Notes that the engine tells no names. */
  giveUp(): void {
    this.silent = true;
  }
}

function key(call: OwnCall, queue: string): string {
  return `${call.verb}:${queue}`;
}
