/** How OAuth clients of `POST /mcp` find the identity provider (RFC 9728), and how MCP servers verify identities. */
import type { FastifyRequest } from 'fastify';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Identity } from '../toolservers/identity.ts';

export interface DiscoveryDeps {
  /** IDP_URL. */
  readonly authorizationServer: string | undefined;
  readonly identity: Identity;
}

const metadataPath = '/.well-known/oauth-protected-resource';
/** Public, also for pages of other origins. */
const open = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=60' };

export function addDiscoveryRoutes(app: HttpServer, { authorizationServer, identity }: DiscoveryDeps): void {
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
export const challengeFor = (request: FastifyRequest): string =>
  `Bearer resource_metadata="${originOf(request)}${metadataPath}/mcp"`;

/** As the client sees this service, also behind a proxy. It learns nothing but what it has sent. */
function originOf({ headers, protocol, host }: FastifyRequest): string {
  const [forwarded] = String(headers['x-forwarded-proto'] ?? '').split(',');
  const scheme = forwarded?.trim() === 'https' || protocol === 'https' ? 'https' : 'http';
  return `${scheme}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
