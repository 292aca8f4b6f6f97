/**
 * Restricts access to the console. `Host` must be one of its names: otherwise, a page whose domain was pointed at this machine (DNS
 * rebinding) could read from it. `Origin` must be its own.
 */
import type { FastifyRequest } from 'fastify';
import type { HttpServer } from '#platform/http/server.ts';
import { consoleProblems } from './problems.ts';

export interface Places {
  /** The public URL of the console. */
  readonly url: string;
  /** Further origins of the console, such as `http://127.0.0.1:4000`. */
  readonly aliases: readonly string[];
}

/** Probes may use any address. Their responses reveal nothing. */
const forProbes: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics']);

export function admitOwnPages(app: HttpServer, { url, aliases }: Places): void {
  const canonical = new URL(url);
  const origins = new Set([canonical.origin, ...aliases]);
  const hosts = new Set([...origins].map((origin) => new URL(origin).host));

  app.addHook('onRequest', (request, reply, done) => {
    if (forProbes.has(request.routeOptions.url)) return done();
    // Only this header counts, because clients can forge the headers that proxies add.
    const host = request.headers.host?.toLowerCase() ?? '';
    if (!hosts.has(host)) return done(consoleProblems.forbidden_host());
    // The router decodes the path before it matches, so the raw path must not decide.
    if (request.routeOptions.url?.startsWith('/api/'))
      return done(isCrossOrigin(request) ? consoleProblems.forbidden_origin() : undefined);
    // Cookies of `localhost` are not sent to pages of `127.0.0.1`, so all pages use one name.
    if (host !== canonical.host && request.method === 'GET') return void reply.redirect(canonical.origin + request.url);
    done();
  });

  function isCrossOrigin({ headers, method }: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && !origins.has(origin)) return true;
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
    // Browsers send the origin with every request that changes something. A request without it does not come from a browser page.
    return method !== 'GET' && method !== 'HEAD' && origin === undefined;
  }
}
