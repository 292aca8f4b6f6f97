/** How OAuth clients of `POST /mcp` find the identity provider (RFC 9728), and how MCP servers verify identities. */
import type { FastifyRequest } from 'fastify';
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
  // RFC 9728 puts the path of the resource behind the well-known one.
  for (const path of [metadataPath, `${metadataPath}/mcp`]) {
    app.get(path, hidden, async (request, reply) =>
      reply.headers(open).send({
        resource: `${originOf(request)}/mcp`,
        authorization_servers: authorizationServer === undefined ? [] : [authorizationServer],
        bearer_methods_supported: ['header'],
        resource_name: 'Atelier',
      }),
    );
  }
  app.get('/.well-known/jwks.json', hidden, async (_request, reply) => reply.headers(open).send(await identity.keys()));
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
