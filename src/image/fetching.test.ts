import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForbiddenUrl } from '#platform/http/hostguard.ts';
import { version } from '#platform/version.ts';
import { ImageFault } from './engine/engine.ts';
import { maxSourceBytes } from './engine/sources.ts';
import { createFetcher, urlSource } from './fetching.ts';

const MiB = 1024 * 1024;
let server: Server;
let neighbour: Server;
let port: number;
let seen: IncomingMessage[] = [];

const listen = async (listener: RequestListener) => {
  const listening = createServer(listener);
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return listening;
};
const portOf = (listening: Server) => (listening.address() as AddressInfo).port;

beforeAll(async () => {
  neighbour = await listen((_request, response) => response.end('secret'));
  server = await listen((request, response) => {
    seen.push(request);
    const url = new URL(request.url ?? '/', 'http://x');
    const number = Number(url.searchParams.get('n'));
    const redirect = (location: string) => response.writeHead(number || 302, { location }).end();
    switch (url.pathname) {
      case '/image':
        return response.end('bytes');
      case '/status':
        return response.writeHead(number, { location: '/image' }).end('bytes');
      case '/bare-redirect':
        return response.writeHead(302).end();
      case '/redirect':
        return redirect('/image');
      case '/redirects':
        return number === 0
          ? response.end('bytes')
          : response.writeHead(302, { location: `/redirects?n=${number - 1}` }).end();
      case '/to':
        return response.writeHead(302, { location: url.searchParams.get('url') ?? '' }).end();
      case '/announced':
        response.writeHead(200, { 'content-length': number });
        return response.flushHeaders();
      case '/chunked':
        for (let sent = 0; sent < number; sent += MiB) response.write(Buffer.alloc(Math.min(MiB, number - sent)));
        return response.end();
      case '/short':
        response.writeHead(200, { 'content-length': 100 });
        response.write('part');
        return setImmediate(() => response.destroy());
      case '/dribble': {
        const timer = setInterval(() => response.write('.'), 5);
        return response.on('close', () => clearInterval(timer));
      }
      case '/empty':
        return response.end();
      default:
        // Never responds.
        return undefined;
    }
  });
  port = portOf(server);
});
afterAll(() => {
  for (const listening of [server, neighbour]) {
    listening.closeAllConnections();
    listening.close();
  }
});

const fetchIt = (path: string, changes: Partial<Parameters<typeof createFetcher>[0]> = {}) => {
  seen = [];
  const fetcher = createFetcher({ allowedHosts: [`127.0.0.1:${port}`], ...changes });
  return fetcher(new URL(path, `http://127.0.0.1:${port}`));
};
const failed = { name: 'SourceFault', reason: 'failed' };

it('fetches the unchanged body from an allowed host', async () => {
  expect(Buffer.from(await fetchIt('/image')).toString()).toBe('bytes');
  expect(seen[0]?.headers).toMatchObject({ host: `127.0.0.1:${port}`, 'accept-encoding': 'identity' });
  expect(seen[0]?.headers['user-agent']).toBe(`Atelier/${version}`);
  expect(await fetchIt('/empty')).toHaveLength(0);
});

it('refuses a host that is not allowed without a request to it', async () => {
  await expect(fetchIt('/image', { allowedHosts: [] })).rejects.toBeInstanceOf(ForbiddenUrl);
  expect(seen).toEqual([]);
});

describe('names', () => {
  const url = () => `http://images.test:${port}/image`;

  it('are resolved once, and the connection uses that address', async () => {
    const requested: string[] = [];
    const resolve = async (hostname: string) => {
      requested.push(hostname);
      // The second response would be another machine.
      return [{ address: requested.length === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }];
    };
    const body = await fetchIt(url(), { allowedHosts: ['images.test'], resolve });
    expect(Buffer.from(body).toString()).toBe('bytes');
    expect(requested).toEqual(['images.test']);
    expect(seen[0]?.headers.host).toBe(`images.test:${port}`);
  });

  it('that lead to a neighbour are refused', async () => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    await expect(fetchIt(url(), { resolve })).rejects.toBeInstanceOf(ForbiddenUrl);
  });

  it.each([
    ['cannot be resolved', async () => Promise.reject(new Error('ENOTFOUND'))],
    ['lead nowhere', async () => []],
  ])('that %s fail', async (_what, resolve) => {
    await expect(fetchIt(url(), { allowedHosts: ['images.test'], resolve })).rejects.toMatchObject(failed);
  });

  it('that are never resolved run into the deadline', async () => {
    const resolve = () => new Promise<never>(() => undefined);
    await expect(fetchIt(url(), { resolve, timeoutMs: 20 })).rejects.toMatchObject(failed);
  });
});

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('%i is followed', async (status) => {
    expect(Buffer.from(await fetchIt(`/redirect?n=${status}`)).toString()).toBe('bytes');
  });

  it('at most three', async () => {
    expect(Buffer.from(await fetchIt('/redirects?n=3')).toString()).toBe('bytes');
    await expect(fetchIt('/redirects?n=4')).rejects.toMatchObject(failed);
    expect(seen).toHaveLength(4);
  });

  it.each([
    ['loopback', () => `http://127.0.0.1:${portOf(neighbour)}/`],
    ['loopback in another form', () => `http://0x7f.1:${portOf(neighbour)}/`],
    ['loopback, scheme left out', () => `//127.0.0.1:${portOf(neighbour)}/`],
    ['metadata', () => 'http://169.254.169.254/latest/'],
    ['IPv6 loopback', () => `http://[::1]:${portOf(neighbour)}/`],
    ['a file', () => 'file:///etc/passwd'],
    ['another scheme', () => 'ftp://93.184.215.14/'],
    ['credentials', () => `http://user:pass@127.0.0.1:${port}/image`],
  ])('to %s: forbidden', async (_where, location) => {
    await expect(fetchIt(`/to?url=${encodeURIComponent(location())}`)).rejects.toBeInstanceOf(ForbiddenUrl);
  });

  it.each([
    ['nowhere', '/bare-redirect'],
    ['no address', '/to?url=http%3A%2F%2F%5B'],
    ['itself', '/to?url=%2Fto'],
  ])('to %s: failed', async (_where, path) => {
    await expect(fetchIt(path)).rejects.toMatchObject(failed);
  });
});

it.each([201, 203, 204, 206, 300, 304, 400, 401, 403, 404, 410, 429, 500, 503])(
  'an answer of %i is a failure',
  async (status) => {
    await expect(fetchIt(`/status?n=${status}`)).rejects.toMatchObject(failed);
  },
);

describe('size', () => {
  // A busy machine can take longer for so many bytes than a source may.
  const patience = { timeoutMs: 60_000 };
  it('accepts 64 MiB', async () => {
    expect(await fetchIt(`/chunked?n=${maxSourceBytes}`, patience)).toHaveLength(maxSourceBytes);
  });
  it.each(['announced', 'chunked'])('a byte more is not: %s', async (path) => {
    const error = await fetchIt(`/${path}?n=${maxSourceBytes + 1}`, patience).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ImageFault);
    expect(error).toMatchObject({ reason: 'too_large' });
  });
});

describe('errors during a fetch', () => {
  it.each([
    ['a body that ends early', '/short'],
    ['TLS where there is none', () => `https://127.0.0.1:${port}/image`],
  ])('%s', async (_what, path) => {
    await expect(fetchIt(typeof path === 'string' ? path : path())).rejects.toMatchObject(failed);
  });

  it('no server listens', async () => {
    // A port that was closed here could be another test's by now. Only root could listen on this one.
    await expect(fetchIt('http://127.0.0.1:1/', { allowedHosts: ['127.0.0.1'] })).rejects.toMatchObject(failed);
  });

  it.each([
    ['no answer', '/never'],
    ['a body without end', '/dribble'],
  ])('the deadline covers %s', async (_what, path) => {
    await expect(fetchIt(path, { timeoutMs: 100 })).rejects.toMatchObject(failed);
  });
});

describe('a source by its address', () => {
  const identity = (url: string) => urlSource(async () => new Uint8Array(), url).identity;
  it('is the same for each spelling', () => {
    expect(identity('HTTP://Example.test:80/a/../b.png#top')).toBe(identity('http://example.test/b.png'));
  });
  it('is another with another query, scheme or port', () => {
    const urls = ['http://a.test/', 'https://a.test/', 'http://a.test:81/', 'http://a.test/?v=1'];
    expect(new Set(urls.map(identity)).size).toBe(urls.length);
  });
});
