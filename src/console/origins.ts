/**
 * Who may talk to the console at all. `Host` has to be one that it is known under, or a page of a stranger whose name
 * was pointed at this machine (DNS rebinding) could read from it. `Origin` has to be its own.
 */
import type { FastifyRequest } from 'fastify';
import type { HttpServer } from '#platform/http/server.ts';
import { consoleProblems } from './problems.ts';

export interface Places {
  /** Where browsers are to find the console. */
  readonly url: string;
  /** Further origins that it is known under, such as `http://127.0.0.1:4000`. */
  readonly aliases: readonly string[];
}

/** Probes call by whatever address they have, and learn nothing. */
const forProbes: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics']);

export function admitOwnPages(app: HttpServer, { url, aliases }: Places): void {
  const canonical = new URL(url);
  const origins = new Set([canonical.origin, ...aliases]);
  const hosts = new Set([...origins].map((origin) => new URL(origin).host));

  app.addHook('onRequest', (request, reply, done) => {
    if (forProbes.has(request.routeOptions.url)) return done();
    // As the header stands: what a proxy adds beside it is anybody's word.
    const host = request.headers.host?.toLowerCase() ?? '';
    if (!hosts.has(host)) return done(consoleProblems.forbidden_host());
    // The router decodes the path before it matches, so the path as it was sent decides nothing.
    if (request.routeOptions.url?.startsWith('/api/'))
      return done(comesFromElsewhere(request) ? consoleProblems.forbidden_origin() : undefined);
    // Cookies of `localhost` do not reach pages of `127.0.0.1`: there is one name for all.
    if (host !== canonical.host && request.method === 'GET') return void reply.redirect(canonical.origin + request.url);
    done();
  });

  function comesFromElsewhere({ headers, method }: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && !origins.has(origin)) return true;
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
    // Browsers name the origin of everything that changes something; what names none is none.
    return method !== 'GET' && method !== 'HEAD' && origin === undefined;
  }
}
