/**
 * Tool calls over MCP that cost credits. A call is a row while it is in flight, with its credits reserved: the limit of runs
 * counts it, and if its process dies, the credits of what it did not deliver go back when the row expires.
 */
import { randomUUID } from 'node:crypto';
import { closeCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { withDeadline } from '#platform/resilience.ts';
import { starts } from '../billing/usage.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext } from '../context.ts';
import { publishImages } from '../events.ts';
import type { ImageModel } from '../generation/catalogue.ts';
import { takeImages } from '../generation/generationstore.ts';
import { agentProblems } from '../problems.ts';
import { assetIdOf } from '../services/library.ts';
import type { AgentTables } from '../tables.ts';
import { reserveImages } from '../tools/imageorders.ts';
import type { Identity } from '../toolservers/identity.ts';
import { countInFlightOf, endCall, endExpiredCalls, insertCall } from './callstore.ts';
import { ToolFailed } from './results.ts';

/** A provider is tried up to three times, so this ends calls that would take unreasonably long. */
const longestMs = 240_000;
/** An image that is being stored by then is still stored. */
const expiresAfterMs = 420_000;
const reapEveryMs = 15_000;
const reapedAtOnce = 50;

/** Also the id that webhooks and usage know the call by. */
export interface PaidCall {
  readonly callId: string;
  readonly scope: string;
  /** One for each image. */
  readonly references: readonly string[];
  readonly userId: string;
}

const scopeOf = (callId: string) => `mcp:${callId}`;

/** The scope of what a user makes over MCP. No other user's assets are in it, whatever threads there are. */
export const threadOf = (userId: string) => `mcp-${userId}`;

/**
 * In the transaction that reserves the credits of the call, after the reservation: that has locked the user's row, so
 * concurrent starts of calls and runs are counted one after the other. Throws `too_many_runs`.
 */
export async function admitCall(
  { maxRunsPerUser }: AgentContext,
  tx: Tx<AgentTables>,
  callId: string,
  ownerId: string,
): Promise<void> {
  if ((await countInFlightOf(tx, ownerId)) >= maxRunsPerUser) throw agentProblems.too_many_runs();
  await insertCall(tx, { callId, ownerId, forMs: expiresAfterMs });
}

/** The calls of this process, so that a drain can wait for them. */
export class McpCalls {
  readonly #deps: AgentContext;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #reaping: Interval;

  constructor(deps: AgentContext) {
    this.#deps = deps;
    this.#reaping = startInterval(
      reapEveryMs,
      (stopped) => this.reap(false, stopped),
      (error) => deps.log.warn({ err: error }, 'expired tool calls could not be ended'),
    );
  }

  /**
   * Reserves the credits of `n` images and has `make` deliver them, which charges for them. Those that fail are free. Throws
   * ToolFailed without enough credits, and `too_many_runs`.
   */
  async payForImages<Made>(
    userId: string,
    order: { readonly model: ImageModel; readonly n: number },
    make: (call: PaidCall, signal: AbortSignal) => Promise<Made>,
  ): Promise<Made> {
    const call = await this.#begin(userId, order);
    return this.track(async (signal) => {
      try {
        const made = await withDeadline(longestMs, (limited) => make(call, limited), signal);
        if (!(await this.#end(call))) throw new ToolFailed('call_expired', 'The call timed out.');
        return made;
      } catch (error) {
        await this.#end(call).catch((cause: unknown) =>
          this.#deps.log.warn({ err: cause }, 'a failed tool call is ended when it expires'),
        );
        throw error;
      }
    });
  }

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

  /** Ends the calls of dead processes; with `all` every call, for the start of a process that is the only one. */
  async reap(all: boolean, stopped?: AbortSignal): Promise<void> {
    for (let ended = reapedAtOnce; ended === reapedAtOnce && !stopped?.aborted; ) {
      ended = await transaction(this.#deps.db, async (tx) => {
        const callIds = await endExpiredCalls(tx, { all, limit: reapedAtOnce });
        for (const callId of callIds) await this.#settle(tx, callId);
        return callIds.length;
      });
    }
  }

  /** Waits for the calls in flight; those that take longer than `withinMs` fail and are free. */
  async drain(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(new Error('the agent stops')), withinMs);
    await Promise.allSettled(this.#inFlight);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await this.drain(0);
    await this.#reaping.stop();
  }

  async #begin(userId: string, { model, n }: { readonly model: ImageModel; readonly n: number }): Promise<PaidCall> {
    const callId = randomUUID();
    const references = Array.from({ length: n }, (_, index) => `${scopeOf(callId)}${index === 0 ? '' : `:${index}`}`);
    const call = { callId, scope: scopeOf(callId), references, userId };
    const begin = () =>
      transaction(this.#deps.db, async (tx) => {
        const { plan } = await ensureProfile(tx, { id: userId }, this.#deps.welcome);
        if (!model.plans.includes(plan)) throw new ToolFailed('insufficient_plan', "Your plan doesn't include images.");
        const unpaid = await reserveImages(tx, userId, call, model);
        if (unpaid !== undefined) {
          const message = `You need ${unpaid.required} credits for this and have ${unpaid.balance}.`;
          throw new ToolFailed('insufficient_credits', message);
        }
        await admitCall(this.#deps, tx, callId, userId);
      });
    await starts.run(userId, begin);
    return call;
  }

  /** `false`: it has expired, and was ended then. */
  async #end({ callId }: PaidCall): Promise<boolean> {
    return transaction(this.#deps.db, async (tx) => {
      const isHeld = await endCall(tx, callId);
      if (isHeld) await this.#settle(tx, callId);
      return isHeld;
    });
  }

  /** Returns what was not charged. An image that was is counted and published, also if its process died right after that. */
  async #settle(tx: Tx<AgentTables>, callId: string): Promise<void> {
    const settlement = await closeCredits(tx, scopeOf(callId));
    if (settlement === undefined) return;
    const { userId, settled } = settlement;
    const images = await takeImages(tx, scopeOf(callId));
    for (const { reference, amount: credits } of settled) {
      const { model, costUsd = 0 } = images.find((image) => image.reference === reference) ?? {};
      const usual = this.#deps.catalogue.images[0].id;
      await addUsage(tx, { userId, model: model ?? usual, images: 1, credits, costUsd });
    }
    const call = { taskId: callId, toolCallId: callId, threadId: threadOf(userId) };
    const assetIds = settled.map(({ reference }) => assetIdOf(reference));
    await publishImages(this.#deps, tx, call, assetIds, settlement);
  }
}

/** What the tools of the MCP server use. */
export interface McpContext extends AgentContext {
  readonly calls: McpCalls;
  /** IDP_URL. */
  readonly authorizationServer: string | undefined;
  readonly identity: Identity;
}
