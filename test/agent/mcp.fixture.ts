/** An MCP server of another maker, over Streamable HTTP, whose tools a test defines. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface ForeignServer {
  readonly url: string;
  /** Of every request. */
  readonly requests: readonly { readonly method: string; readonly headers: IncomingMessage['headers'] }[];
  /** Of the sessions that are open. */
  readonly sessions: ReadonlyMap<string, McpServer>;
  /** Every following request gets this status. */
  answerAllWith(status: number | undefined, headers?: Record<string, string>): void;
  /** As after a restart: the server knows no session any more. */
  forget(): void;
  close(): Promise<void>;
}

/** `verify`: of the bearer token of each request. Requests whose token it rejects get 401. */
export async function startForeignServer(
  define: (server: McpServer) => void,
  verify?: (token: string) => Promise<AuthInfo>,
): Promise<ForeignServer> {
  const requests: { method: string; headers: IncomingMessage['headers'] }[] = [];
  const sessions = new Map<string, McpServer>();
  const transports = new Map<string, StreamableHTTPServerTransport>();
  let fixed: { status: number; headers: Record<string, string> } | undefined;

  async function newTransport(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: 'foreign', version: '1.0.0' });
    define(server);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        transports.set(id, transport);
        sessions.set(id, server);
      },
    });
    // The SDK's own types differ under exactOptionalPropertyTypes.
    await server.connect(transport as Parameters<McpServer['connect']>[0]);
    return transport;
  }

  const http = createServer(async (request, response) => {
    requests.push({ method: request.method ?? '', headers: request.headers });
    if (fixed !== undefined) return void response.writeHead(fixed.status, fixed.headers).end('no');
    if (verify !== undefined) {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const auth = await verify(token).catch(() => undefined);
      if (auth === undefined) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      Object.assign(request, { auth });
    }
    const id = request.headers['mcp-session-id'];
    const known = transports.get(String(id));
    if (id !== undefined && known === undefined) return void response.writeHead(404).end();
    await (known ?? (await newTransport())).handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    sessions,
    answerAllWith: (status, headers = {}) => {
      fixed = status === undefined ? undefined : { status, headers };
    },
    forget: () => {
      transports.clear();
      sessions.clear();
      http.closeAllConnections();
    },
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
