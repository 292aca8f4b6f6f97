/** Calls of tools over MCP that order images and videos. */
import type { AgentContext } from '../context.ts';
import type { Origin } from '../generation/orders.ts';
import type { Identity } from '../toolservers/identity.ts';

/** Where the orders of a user over MCP are stored. No other user's assets are in it, whatever threads there are. */
export const ofMcp = (userId: string): Origin => ({ origin: 'mcp', scopeKind: 'thread', scopeId: `mcp-${userId}` });

/** The calls of this process that wait for their orders, so that a drain can wait for them. */
export class McpCalls {
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  /** The client may disconnect: the work goes on, and a drain waits for it. */
  async track<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = work(this.#closing.signal);
    this.#inFlight.add(running);
    try {
      return await running;
    } finally {
      this.#inFlight.delete(running);
    }
  }

  /** Waits for the calls in flight. Aborts those that take longer than `withinMs`. */
  async drain(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(new Error('the agent stops')), withinMs);
    await Promise.allSettled(this.#inFlight);
    clearTimeout(timer);
  }
}

/** What the tools of the MCP server use. */
export interface McpContext extends AgentContext {
  readonly calls: McpCalls;
  /** IDP_URL. */
  readonly authorizationServer: string | undefined;
  readonly identity: Identity;
}
