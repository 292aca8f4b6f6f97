/** `POST /mcp`: the product's tools for MCP clients (docs/specification/agent.md#mcp-server). */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { outgoingFetch } from '#platform/version.ts';
import { agentProblems } from '../problems.ts';
import { signedIn } from '../threads/changes.ts';
import type { McpContext } from './calls.ts';

/** One message: batches are not part of the protocol any more, and would evade the limit of requests. */
const message = z.looseObject({ jsonrpc: z.literal('2.0') });

export function addMcpRoutes(app: HttpServer, access: Access, deps: McpContext): void {
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
    // Loaded with the first request, with the protocol's SDK and the schemas of the tools.
    const { answerMcp } = await import('./server.ts');
    const { response, close } = await answerMcp(deps, {
      userId: signedIn(request.caller).userId,
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

// How OAuth clients of `POST /mcp` find the identity provider (RFC 9728), and how MCP servers verify identities.

const metadataPath = '/.well-known/oauth-protected-resource';
/** Public, also for pages of other origins. */
const open = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=60' };

function addDiscoveryRoutes(app: HttpServer, { authorizationServer, identity }: McpContext): void {
  const hidden = { schema: { hide: true } } as const;
  const servers = authorizationServer === undefined ? async () => [] : findIssuer(authorizationServer);
  // RFC 9728 puts the path of the resource behind the well-known one.
  for (const path of [metadataPath, `${metadataPath}/mcp`]) {
    app.get(path, hidden, async (request, reply) =>
      reply.headers(open).send({
        resource: `${originOf(request)}/mcp`,
        authorization_servers: await servers(),
        bearer_methods_supported: ['header'],
        resource_name: 'Atelier',
      }),
    );
  }
  app.get('/.well-known/jwks.json', hidden, async (_request, reply) => reply.headers(open).send(await identity.keys()));
}

const askedForMs = 2000;
const keptForMs = 600_000;

/**
 * Clients reject an authorization server whose metadata names another issuer, and GoTrue, as an authorization server, is an issuer
 * below IDP_URL. A provider without metadata there is named by IDP_URL.
 */
function findIssuer(idpUrl: string): () => Promise<readonly string[]> {
  let found: { readonly servers: Promise<readonly string[]>; readonly atMs: number } | undefined;
  const ask = async () => {
    const url = `${idpUrl}/auth/v1/.well-known/oauth-authorization-server`;
    const response = await outgoingFetch(url, { signal: AbortSignal.timeout(askedForMs) });
    const { issuer } = (response.ok ? await response.json() : {}) as { readonly issuer?: unknown };
    return [typeof issuer === 'string' && URL.canParse(issuer) ? issuer : idpUrl];
  };
  return () => {
    if (found === undefined || performance.now() - found.atMs > keptForMs) {
      const servers = ask().catch(() => {
        found = undefined;
        return [idpUrl];
      });
      found = { servers, atMs: performance.now() };
    }
    return found.servers;
  };
}

/** In place of the plain `Bearer` of other endpoints. */
const challengeFor = (request: FastifyRequest): string =>
  `Bearer resource_metadata="${originOf(request)}${metadataPath}/mcp"`;

/** As the client sees this service, also behind a proxy. It learns nothing but what it has sent. */
function originOf({ headers, protocol, host }: FastifyRequest): string {
  const [forwarded] = String(headers['x-forwarded-proto'] ?? '').split(',');
  const scheme = forwarded?.trim() === 'https' || protocol === 'https' ? 'https' : 'http';
  return `${scheme}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
