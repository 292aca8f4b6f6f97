/** `POST /mcp`: the product's tools for MCP clients (docs/specification/agent.md#mcp-server). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { agentProblems } from '../problems.ts';
import { addDiscoveryRoutes, challengeFor, type DiscoveryDeps } from './discovery.ts';
import type { McpServerDeps } from './server.ts';

/** One message: batches are not part of the protocol any more, and would evade the limit of requests. */
const message = z.looseObject({ jsonrpc: z.literal('2.0') });

export function addMcpRoutes(app: HttpServer, access: Access, deps: McpServerDeps & DiscoveryDeps): void {
  // Not an endpoint of the typed client: clients of the protocol have their own.
  const hidden = { hide: true } as const;
  const guarded = {
    ...access.userOnly,
    onSend: async (request: FastifyRequest, reply: FastifyReply) => {
      if (reply.statusCode === 401) reply.header('www-authenticate', challengeFor(request));
    },
  };
  addDiscoveryRoutes(app, deps);

  app.post('/mcp', { ...guarded, schema: { ...hidden, body: message } }, async (request, reply) => {
    if (request.caller.kind !== 'user') throw new Error('the guard admits only users');
    // Loaded with the first request, with the protocol's SDK and the schemas of the tools.
    const { answerMcp } = await import('./server.ts');
    const { response, close } = await answerMcp(deps, {
      userId: request.caller.userId,
      headers: headersOf(request),
      message: request.body,
    });
    reply.raw.once('close', () => void close());
    return reply.send(response);
  });

  const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', 'POST');
    throw agentProblems.method_not_allowed();
  };
  app.get('/mcp', { ...guarded, schema: hidden }, refuse);
  app.delete('/mcp', { ...guarded, schema: hidden }, refuse);
}

/** Those that the protocol reads. */
function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const names = ['accept', 'content-type', 'mcp-protocol-version'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
