/** Queues' own functions, whose names the engine tells: what calls them spares it the finding and the planning. */

/** A call of a queue's own function, which does what the public one does that finds it. */
export interface OwnCall {
  readonly verb: string;
  /** The statement, with `{function}` for the name. */
  readonly text: string;
}

/** Statements that a client keeps. Each is one that drivers may keep, too. */
const keptMax = 256;

/**
 * The statements that call queues' own functions; of those not asked for yet, how many calls there were. Nothing tells
 * when a queue is dropped or renamed; the call fails then, and its statement is forgotten.
 */
export class OwnCalls {
  private silent = false;
  private readonly calls = new Map<string, string | number>();

  /** askAfter calls go through the public function before a name is asked for: who makes few calls pays nothing. */
  constructor(private readonly askAfter = 8) {}

  /** The statement; "ask" when it is time to ask for the name, undefined when the public function is to be called. */
  find(call: OwnCall, queue: string): { text: string } | "ask" | undefined {
    const found = this.calls.get(key(call, queue)) ?? 0;
    if (typeof found === "string") return { text: found };
    if (this.silent || (found === 0 && !this.hasRoom())) return undefined;
    this.calls.set(key(call, queue), found + 1);
    return found >= this.askAfter ? "ask" : undefined;
  }

  /** Whether there is room for one more. Those called a few times make some, also those of no queue. */
  private hasRoom(): boolean {
    if (this.calls.size >= keptMax)
      for (const [key, known] of this.calls) if (typeof known === "number") this.calls.delete(key);
    return this.calls.size < keptMax;
  }

  /** Notes the name of a queue's own function and returns the statement that calls it. */
  keep(call: OwnCall, queue: string, name: string): { text: string } {
    const text = call.text.replace("{function}", () => name);
    this.calls.set(key(call, queue), text);
    return { text };
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
