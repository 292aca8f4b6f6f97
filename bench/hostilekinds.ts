/** The kinds of hostile connections: each keeps its connections busy until the signal, with the rights of one user. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Account } from './hostileaccount.ts';

export interface Kind {
  readonly name: string;
  /** Runs one of the connections. Rejections of the server end it quietly, and it is begun again. */
  readonly connection: (hostile: Account, index: number, signal: AbortSignal) => Promise<void>;
}

const mebibyte = 1024 * 1024;
const trickleEveryMs = 500;

/** Sends `text`, then a byte at intervals, and reads nothing, until the server closes the connection. */
async function trickle(url: string, text: string, signal: AbortSignal, piece = 'x'): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write(text);
  const timer = setInterval(() => piece !== '' && socket.write(piece), trickleEveryMs);
  const close = () => socket.destroy();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  await once(socket, 'close');
  signal.removeEventListener('abort', close);
  clearInterval(timer);
}

function head(method: string, url: string, headers: Readonly<Record<string, string | number>>): string {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const json = { 'content-type': 'application/json' };
const video = { scopeKind: 'thread', scopeId: 'hostile', kind: 'video', mime: 'video/mp4' };

async function slowUpload(hostile: Account, index: number, signal: AbortSignal): Promise<void> {
  const { uploadUrl, headers } = await hostile.reserve({ ...video, assetId: hostile.assetIds[index] });
  await trickle(uploadUrl, head('PUT', uploadUrl, { ...headers, 'content-length': 1024 * mebibyte }), signal);
}

export const kinds: readonly Kind[] = [
  {
    name: 'silent',
    connection: ({ urls }, _index, signal) => trickle(urls.agent, '', signal, ''),
  },
  {
    name: 'slow headers',
    connection: ({ urls }, _index, signal) => trickle(urls.media, 'GET /v1/assets HTTP/1.1\r\nHost: a', signal),
  },
  {
    name: 'slow bodies without a credential',
    connection: ({ urls }, _index, signal) =>
      trickle(urls.auth, head('POST', `${urls.auth}/refresh`, { ...json, 'content-length': 100_000 }), signal),
  },
  {
    name: 'slow bodies',
    connection: ({ urls, credential }, _index, signal) => {
      const headers = { ...credential, ...json, 'content-length': mebibyte };
      return trickle(urls.agent, head('POST', `${urls.agent}/task`, headers), signal, ' ');
    },
  },
  {
    name: 'slow bodies of chats',
    // Together they announce exactly what may arrive at once.
    connection: ({ urls, credential }, index, signal) => {
      const headers = { ...credential, ...json, 'content-length': (index % 8 === 7 ? 4 : 36) * mebibyte };
      return trickle(urls.agent, head('POST', `${urls.agent}/chat`, headers), signal, ' ');
    },
  },
  {
    name: 'slow uploads to one URL',
    connection: (hostile, _index, signal) => slowUpload(hostile, 0, signal),
  },
  {
    name: 'slow uploads to a URL each',
    connection: slowUpload,
  },
  {
    name: 'slow downloads',
    connection: async ({ fileUrl }, _index, signal) => trickle(fileUrl, head('GET', fileUrl, {}), signal, ''),
  },
  {
    name: 'silent streams of events',
    connection: ({ urls, credential }, _index, signal) =>
      trickle(urls.agent, head('GET', `${urls.agent}/events`, credential), signal, ''),
  },
  {
    name: 'enlargements',
    connection: async (hostile, index, signal) => {
      const body = { ref: hostile.imageId, width: 2000 - index, enlarge: true, format: 'webp', maxBytes: 1 };
      const { url } = await hostile.call<{ url: string }>('media', 'POST', '/v1/fit', body, signal);
      await (await fetch(url, { signal })).arrayBuffer();
    },
  },
  {
    name: 'video tasks',
    connection: async (hostile, index, signal) => {
      const assetId = hostile.videoIds[index % hostile.videoIds.length];
      await hostile.call('media', 'POST', '/v1/media-tasks/video', { ...video, assetId }, signal);
    },
  },
  {
    name: 'reads of a long thread',
    connection: async (hostile, _index, signal) => {
      await hostile.call('agent', 'GET', `/messages/${hostile.longThread}`, undefined, signal);
    },
  },
  {
    name: 'searches in long threads',
    connection: async (hostile, _index, signal) => {
      await hostile.call('agent', 'GET', '/threads?q=lorem+ipsum+dolor+nowhere', undefined, signal);
    },
  },
  {
    name: 'searches in many memories',
    connection: async (hostile, index, signal) => {
      const entity = { entity_id: hostile.userId, entity_type: 'user' };
      await hostile.call('memory', 'POST', '/memory/search', { ...entity, query: `what do I like ${index}` }, signal);
    },
  },
  {
    name: 'runs with a long run of spaces',
    connection: async (hostile, index, signal) => {
      const text = `remember a${' '.repeat(500_000)}b`;
      await hostile.call('agent', 'POST', '/task', { threadId: `spaces-${index}`, text }, signal);
    },
  },
];
