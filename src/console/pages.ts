/** The built pages (`dist/`, created from `web/` by `npm run build:console`), with a policy that allows no other scripts. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import mime from 'mime';
import { escapeXml } from '#platform/escaping.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
// Of the single-page application. The browser decides what to show.
import pagePaths from './pagepaths.json' with { type: 'json' };

const isPage = new RegExp(`^(${pagePaths.join('|').replaceAll(/:\w+/g, '[^/]+').replace('*', '.*')})/?$`);

/** The name of the product is in these files, too. */
const brandedFiles: Readonly<Record<string, (text: string, brand: string) => string>> = {
  'manifest.webmanifest': (text, brand) => text.replaceAll('"Atelier"', () => JSON.stringify(brand)),
  'offline.html': (text, brand) => text.replaceAll('Atelier', () => escapeXml(brand)),
  'index.html': (text, brand) => text.replaceAll('Atelier', () => escapeXml(brand)),
};

const dist = fileURLToPath(new URL('./dist/', import.meta.url));

interface BuiltFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer | undefined;
  readonly etag: string;
}

export interface Reachable {
  /** Origins of services that the pages call. */
  readonly services: readonly string[];
  /** Origins of images, videos and uploads. */
  readonly media: readonly string[];
  /** Hosts of pictures of home cards: CMS_MEDIA_HOSTS. */
  readonly pictures: readonly string[];
}

/** `url`: of the console. `brand`: the name of the product, which the built pages have as `Atelier`. */
export function addPages(app: HttpServer, url: string, reachable: Reachable, brand: string): void {
  const headers = {
    'content-security-policy': policyOf(reachable),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
  };
  const page = once(() => readBuilt('index.html', brand));
  for (const path of pagePaths) for (const end of /[/*]$/.test(path) ? [''] : ['', '/']) serve(path + end, page);
  const names = readdirSync(`${dist}assets`);
  const assets = new Map(names.map((name) => [name, once(() => readBuilt(`assets/${name}`, brand))]));
  // A route for each file would take a twentieth of the processor time of a start.
  app.get<{ Params: { name: string } }>('/assets/:name', { schema: { hide: true } }, async (request, reply) => {
    const read = assets.get(request.params.name);
    return read === undefined ? sendUnknown(request, reply) : sendKnown(request, reply, read());
  });
  for (const name of readdirSync(dist).filter((file) => file.includes('.') && file !== 'index.html'))
    serve(
      `/${name}`,
      once(() => readBuilt(name, brand)),
    );
  // The page itself signs in, or offers it.
  app.get<{ Querystring: { next?: unknown } }>('/login', { schema: { hide: true } }, async ({ query }, reply) =>
    reply.header('cache-control', 'no-store').redirect(pathOf(query.next, url)),
  );
  app.get('/*', { schema: { hide: true } }, async (request, reply) => sendUnknown(request, reply));

  function serve(path: string, read: () => BuiltFile): void {
    app.get(path, { schema: { hide: true } }, async (request, reply) => sendKnown(request, reply, read()));
  }

  function sendKnown(request: FastifyRequest, reply: FastifyReply, file: BuiltFile): FastifyReply {
    reply.headers({ ...headers, etag: file.etag });
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    return sendFile(request, reply, file);
  }

  /** A person who follows an outdated link sees a page, and a program receives JSON. */
  function sendUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (!request.headers.accept?.includes('text/html')) throw problems.not_found();
    reply.code(404).headers({ ...headers, vary: 'Accept, Accept-Encoding' });
    return sendFile(request, reply, page());
  }
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { type, bytes, gzipped }: BuiltFile): FastifyReply {
  reply.type(type);
  const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  return gzipped !== undefined && takesGzip
    ? reply.header('content-encoding', 'gzip').send(gzipped)
    : reply.send(bytes);
}

/** The path of a page of the console. All other URLs lead to the start page. */
function pathOf(next: unknown, home: string): string {
  const { origin } = new URL(home);
  const target = URL.parse(String(next), origin);
  // Two slashes at the beginning would name another host.
  const path = target?.pathname.replace(/^\/+/, '/') ?? '';
  return target?.origin === origin && isPage.test(path) ? path + target.search + target.hash : '/';
}

/** A strict policy: scripts and styles are files of the console, and requests go to known origins only. */
function policyOf({ services, media, pictures }: Reachable): string {
  const of = (...sources: readonly string[]) => [...new Set(sources)].join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${of("'self'", 'data:', 'blob:', ...media, ...pictures)}`,
    `media-src ${of("'self'", 'blob:', ...media)}`,
    `connect-src ${of("'self'", ...services, ...media)}`,
    "frame-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function readBuilt(name: string, brand: string): BuiltFile {
  const [read, change] = [readFileSync(dist + name), brandedFiles[name]];
  const bytes = change === undefined ? read : Buffer.from(change(read.toString(), brand));
  const type = mime.getType(name) ?? 'application/octet-stream';
  return {
    type: type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    bytes,
    gzipped: bytes.length > 1024 ? gzipSync(bytes, { level: 9 }) : undefined,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 24)}"`,
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
