/**
 * One MCP server, for one user if it learns who that is: its connection, and the list of its tools. The list is read at the start of a run if it is older than five
 * minutes or the server has announced a change. A server that does not answer has no tools for half a minute.
 */
import { ForbiddenUrl, type Guard } from '#platform/http/hostguard.ts';
import type { Log } from '#platform/log.ts';
import { DeadlineExceeded, startIdleDeadline, withDeadline } from '#platform/resilience.ts';
import type { McpServer } from '../mcpservers.ts';
import {
  type CallOptions,
  type ListedTool,
  openSession,
  RedirectRefused,
  RequestRefused,
  ServerAnswered,
  type Session,
  type ToolResult,
} from './session.ts';

export interface ToolServerOptions {
  readonly guard: Guard;
  readonly token?: (() => Promise<string>) | undefined;
  readonly log: Log;
  readonly pace: Pace;
}

export interface Pace {
  /** How long the start of a run waits for a list. */
  readonly listMs: number;
  /** How long a call may be silent. Progress is no silence. */
  readonly callMs: number;
  /** How long a call may take with progress. */
  readonly longestCallMs: number;
  readonly freshMs: number;
  readonly pauseMs: number;
}

export const defaultPace: Pace = {
  listMs: 5000,
  callMs: 30_000,
  longestCallMs: 300_000,
  freshMs: 300_000,
  pauseMs: 30_000,
};

const maxSchemaBytes = 16 * 1024;
const maxDescription = 1024;

export class ToolServer {
  readonly name: string;
  readonly #server: McpServer;
  readonly #deps: ToolServerOptions;
  readonly #closing = new AbortController();
  #session: Promise<Session> | undefined;
  /** How many calls use each session. */
  readonly #users = new Map<Promise<Session>, number>();
  /** `readAtMs` is -Infinity once the server has announced a change. */
  #listed: { tools: readonly ListedTool[]; readAtMs: number } | undefined;
  #reading: Promise<readonly ListedTool[]> | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(server: McpServer, deps: ToolServerOptions) {
    this.name = server.name;
    this.#server = server;
    this.#deps = deps;
  }

  /** No call or list is under way. */
  get isIdle(): boolean {
    return this.#users.size === 0 && this.#reading === undefined;
  }

  /** Never rejects: a server that does not answer has no tools. */
  async list(): Promise<readonly ListedTool[]> {
    const { freshMs, pauseMs } = this.#deps.pace;
    const nowMs = performance.now();
    if (this.#listed !== undefined && nowMs - this.#listed.readAtMs < freshMs) return this.#listed.tools;
    if (nowMs - this.#failedAtMs < pauseMs) return [];
    // Runs that start at the same time share one request.
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Rejects with DeadlineExceeded if the server is silent, and with the connection's error. */
  async call(tool: string, input: unknown, { signal, onProgress }: CallOptions): Promise<ToolResult> {
    const { callMs, longestCallMs } = this.#deps.pace;
    const longest = AbortSignal.timeout(longestCallMs);
    const deadline = startIdleDeadline(callMs, AbortSignal.any([signal, longest, this.#closing.signal]));
    const options = {
      signal: deadline.signal,
      onProgress: (progress: Parameters<NonNullable<typeof onProgress>>[0]) => {
        deadline.touch();
        onProgress?.(progress);
      },
    };
    try {
      return await deadline.race(
        this.#withSession(deadline.signal, (session) => session.callTool(tool, input, options)),
      );
    } catch (error) {
      throw longest.aborted && !signal.aborted ? new DeadlineExceeded(longestCallMs) : error;
    } finally {
      deadline.stop();
    }
  }

  /** Reads the list and returns the number of tools. Rejects with a reason that shows no secret. */
  async check(): Promise<number> {
    try {
      return (await this.#request()).length;
    } catch (error) {
      throw new Error(reasonOf(error));
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the agent stops'));
    const session = this.#session;
    this.#session = undefined;
    await close(session);
  }

  async #read(): Promise<readonly ListedTool[]> {
    const { log } = this.#deps;
    const startedAtMs = performance.now();
    try {
      const tools = (await this.#request()).filter((tool) => this.#isUsable(tool));
      this.#listed = { tools, readAtMs: startedAtMs };
      return tools;
    } catch (error) {
      this.#listed = undefined;
      this.#failedAtMs = performance.now();
      this.#retire(this.#session);
      log.warn({ server: this.name, reason: reasonOf(error) }, 'a run continues without the tools of an MCP server');
      return [];
    }
  }

  #request(): Promise<readonly ListedTool[]> {
    const read = (signal: AbortSignal) => this.#withSession(signal, (session) => session.listTools(signal));
    return withDeadline(this.#deps.pace.listMs, read, this.#closing.signal);
  }

  #isUsable({ name, inputSchema }: ListedTool): boolean {
    const isUsable = name !== '' && JSON.stringify(inputSchema).length <= maxSchemaBytes;
    if (!isUsable)
      this.#deps.log.warn({ server: this.name }, 'a tool of an MCP server is left out: its schema is too large');
    return isUsable;
  }

  /** A session that the server has forgotten is opened again, once: the server has not executed the request. */
  async #withSession<T>(signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.#open();
    try {
      return await this.#use(session, work);
    } catch (error) {
      const isAnswered = error instanceof ServerAnswered || error instanceof RequestRefused;
      const isForgotten = error instanceof ServerAnswered && error.status === 404;
      // After a broken connection the name is resolved again.
      if (isForgotten || (!isAnswered && !signal.aborted)) this.#retire(session);
      if (!isForgotten || signal.aborted) throw error;
      return this.#use(this.#open(), work);
    }
  }

  async #use<T>(session: Promise<Session>, work: (session: Session) => Promise<T>): Promise<T> {
    this.#users.set(session, (this.#users.get(session) ?? 0) + 1);
    try {
      return await work(await session);
    } finally {
      const left = (this.#users.get(session) ?? 1) - 1;
      if (left > 0) this.#users.set(session, left);
      else this.#users.delete(session);
      this.#closeUnused(session);
    }
  }

  #open(): Promise<Session> {
    if (this.#session !== undefined) return this.#session;
    const onToolsChanged = () => {
      if (this.#listed !== undefined) this.#listed = { ...this.#listed, readAtMs: Number.NEGATIVE_INFINITY };
    };
    const { guard, token } = this.#deps;
    const deps = { guard, token, onToolsChanged };
    const open = (signal: AbortSignal) => openSession(deps, this.#server, signal);
    // Several calls can wait for one connection, so the end of one of them must not end it.
    const opening = withDeadline(this.#deps.pace.listMs, open, this.#closing.signal);
    this.#session = opening;
    opening.catch(() => {
      if (this.#session === opening) this.#session = undefined;
    });
    return opening;
  }

  /** The next call opens another session. Does nothing if an earlier call has retired this one. */
  #retire(session: Promise<Session> | undefined): void {
    if (session === undefined || this.#session !== session) return;
    this.#session = undefined;
    this.#closeUnused(session);
  }

  /** A retired session is closed when its last call has ended: closing it earlier would fail the other calls. */
  #closeUnused(session: Promise<Session>): void {
    if (this.#session !== session && !this.#users.has(session)) void close(session);
  }
}

async function close(session: Promise<Session> | undefined): Promise<void> {
  await session?.then((opened) => opened.close()).catch(() => undefined);
}

/** For the log and the user: neither what the server wrote nor the URL, which can hold secrets. */
export function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenUrl) return 'its address is not allowed';
  if (error instanceof RedirectRefused) return 'it returned a redirect, which is not followed';
  if (error instanceof DeadlineExceeded) return 'it did not respond in time';
  if (error instanceof ServerAnswered && error.status > 0) return `it returned ${error.status}`;
  if (error instanceof RequestRefused) return 'it refused the request';
  if (isUntrusted(error))
    return 'its certificate is not trusted; for a private authority, set NODE_EXTRA_CA_CERTS to the file of its certificate';
  return 'it could not be reached, or its response is invalid';
}

/** Node.js has no common class for errors of certificates. */
function isUntrusted(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return /CERT|LEAF_SIGNATURE/.test(code ?? '') || isUntrusted(error.cause);
}

export function describeTool({ description }: ListedTool): string {
  return description.slice(0, maxDescription).toWellFormed();
}
