/** One connection to an MCP server over Streamable HTTP. The SDK is loaded with the first connection. */
import type { Client, Progress } from '@modelcontextprotocol/client';
import { type Dispatcher, fetch as fetchFrom } from 'undici';
import { connectOnlyTo, type Guard } from '#platform/http/hostguard.ts';
import { userAgent, version } from '#platform/version.ts';
import type { McpServer } from '../mcpservers.ts';

interface SessionOptions {
  readonly guard: Guard;
  /** Of the user, for one request. `undefined`: the server learns no user. */
  readonly token: (() => Promise<string>) | undefined;
  /** The server's tools may have changed. */
  readonly onToolsChanged: () => void;
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** By `destructiveHint` of the server. */
  readonly isDestructive: boolean;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Session {
  listTools(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /** Resolves with the result as the server sent it. */
  callTool(name: string, input: unknown, options: CallOptions): Promise<ToolResult>;
  close(): Promise<void>;
}

export type ToolResult = Awaited<ReturnType<typeof callTool>>;

/** The server answered the HTTP request with an error status. */
export class ServerAnswered extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the server returned ${status}`);
    this.status = status;
  }
}

/** The server answered with an error of the protocol. The message is the server's. */
export class RequestRefused extends Error {}

/** The images of a result are in its JSON, in base64. */
const maxResponseBytes = 16 * 1024 * 1024;
const maxPages = 10;
const maxTools = 64;
/** The callers limit the time. The SDK's own limit only has to be longer. */
const longestMs = 600_000;

const load = () => import('@modelcontextprotocol/client');

/** Throws ForbiddenUrl for a private address, and whatever the connection fails with. */
export async function openSession(deps: SessionOptions, server: McpServer, signal: AbortSignal): Promise<Session> {
  const { Client, StreamableHTTPClientTransport } = await load();
  const url = new URL(server.url);
  // The name is resolved for each connection, and the connection goes to the addresses that were checked.
  const agent = connectOnlyTo(await deps.guard(url));
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: withToken(guardedFetch(agent, maxResponseBytes), deps.token),
    requestInit: { headers: { ...server.headers } },
  });
  const client = new Client({ name: 'Atelier', version });
  // Lost connections show at the next call.
  client.onerror = () => undefined;
  client.setNotificationHandler('notifications/tools/list_changed', () => deps.onToolsChanged());
  const close = async () => {
    await client.close().catch(() => undefined);
    await agent.destroy();
  };
  try {
    await translated(client.connect(transport, { signal, timeout: longestMs }));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    listTools: (listing) => translated(listTools(client, listing)),
    callTool: (name, input, options) => translated(callTool(client, name, input, options)),
    close,
  };
}

function withToken(send: ReturnType<typeof guardedFetch>, token: SessionOptions['token']): typeof send {
  if (token === undefined) return send;
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${await token()}`);
    return send(url, { ...init, headers });
  };
}

async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { ProtocolError, SdkHttpError } = await load();
    if (error instanceof SdkHttpError) throw new ServerAnswered(error.status);
    if (error instanceof ProtocolError) throw new RequestRefused(error.message);
    throw error;
  }
}

async function listTools(client: Client, signal: AbortSignal): Promise<readonly ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages && tools.length < maxTools; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    // `client.listTools` would compile the output schemas, which are another server's code.
    const found = await client.request({ method: 'tools/list', params }, { signal, timeout: longestMs });
    for (const { name, description = '', inputSchema, annotations } of found.tools) {
      const isDestructive = annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
      tools.push({ name, description, inputSchema, isDestructive });
    }
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, maxTools);
}

async function callTool(client: Client, name: string, input: unknown, { signal, onProgress }: CallOptions) {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  const params = { name, arguments: isObject ? { ...input } : {} };
  return client.request(
    { method: 'tools/call', params },
    {
      signal,
      timeout: longestMs,
      ...(onProgress && { onprogress: onProgress }),
    },
  );
}

// The `fetch` of a connection to an MCP server: it reaches the addresses that were checked and no others.

/** The server answered with a redirect, which is not followed: it could lead to an address that was not checked. */
export class RedirectRefused extends Error {}

/** Statuses whose responses have no body. */
const withoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** A response fails as soon as more than `maxBytes` have arrived. */
function guardedFetch(dispatcher: Dispatcher, maxBytes: number) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', userAgent);
    const response = await fetchFrom(url, {
      method: init.method ?? 'GET',
      headers: [...headers],
      // The client of the protocol sends text only.
      body: typeof init.body === 'string' ? init.body : null,
      signal: init.signal ?? null,
      redirect: 'manual',
      dispatcher,
    });
    const { status } = response;
    if (status >= 300 && status < 400 && status !== 304) {
      await response.body?.cancel();
      throw new RedirectRefused(`the server returned a redirect (${status})`);
    }
    const body = withoutBody.has(status) ? null : (response.body?.pipeThrough(atMost(maxBytes)) ?? null);
    return new Response(body, { status, headers: [...response.headers] });
  };
}

function atMost(maxBytes: number) {
  let length = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      length += chunk.length;
      if (length > maxBytes) controller.error(new Error(`the response is larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
