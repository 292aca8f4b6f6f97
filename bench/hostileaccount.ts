/** An account of a running system, with what its calls need. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { clip } from '../test/media/clips.fixture.ts';
import { makeImage } from '../test/media/images.fixture.ts';
import { render } from '../test/media/videosamples.fixture.ts';
import { signIn } from '../test/soak/signin.ts';

export type Service = 'media' | 'auth' | 'agent' | 'memory' | 'content';
export type Urls = Readonly<Record<Service | 'console', string>>;

export interface Reserved {
  readonly assetId: string;
  readonly uploadUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Account {
  readonly urls: Urls;
  readonly userId: string;
  readonly credential: Readonly<Record<string, string>>;
  /** Throws for a status that is not 2xx. */
  call<Body>(service: Service, method: string, path: string, body?: object, signal?: AbortSignal): Promise<Body>;
  reserve(what: object): Promise<Reserved>;
  /** Registers the bytes, and returns their id. */
  upload(bytes: Uint8Array, kind: string, mime: string): Promise<string>;
  /** Ids for reservations. */
  readonly assetIds: readonly string[];
  readonly imageId: string;
  readonly videoIds: readonly string[];
  readonly longThread: string;
  /** Of a file of 24 MB. */
  readonly fileUrl: string;
}

export type Send = (url: string, init?: RequestInit) => Promise<Response>;
export type Caller = Pick<Account, 'urls' | 'userId' | 'credential' | 'call' | 'reserve' | 'upload'>;

export function urlsOf(portBase: number): Urls {
  const at = (offset: number) => `http://localhost:${portBase + offset}`;
  return { console: at(0), media: at(1), auth: at(3), agent: at(4), memory: at(5), content: at(6) };
}

/** `send`: for all its requests after the sign-in. */
export async function openCaller(urls: Urls, email: string, send: Send = fetch): Promise<Caller> {
  const { userId, accessToken } = await signIn(urls.auth, urls.console, email);
  const credential = { authorization: `Bearer ${accessToken}` };
  const call: Account['call'] = async (service, method, path, body, signal) => {
    const response = await send(urls[service] + path, {
      method,
      headers: { ...credential, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${service}${path} returned ${response.status}: ${text.slice(0, 200)}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const reserve = (what: object) => call<Reserved>('media', 'POST', '/v1/uploads', what);
  const upload = async (bytes: Uint8Array, kind: string, mime: string) => {
    const what = { scopeKind: 'thread', scopeId: 'hostile', kind, mime };
    const { assetId, uploadUrl, headers } = await reserve(what);
    const put = await send(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) });
    if (!put.ok) throw new Error(`the upload returned ${put.status}`);
    await call('media', 'POST', '/v1/assets', { ...what, assetId });
    return assetId;
  };
  return { urls, userId, credential, call, reserve, upload };
}

const messages = 24;
const messageBytes = 1_000_000;
const memories = 300;

/** Plants what the hostile connections need: a file, an image, videos, a long thread and many memories. */
export async function openHostile(urls: Urls, folder: string): Promise<Account> {
  const caller = await openCaller(urls, 'hostile@example.com');
  const { call, upload, userId } = caller;
  const fileId = await upload(Buffer.alloc(24_000_000, 'x'), 'file', 'text/plain');
  const signed = await call<Record<string, { url: string }>>('media', 'POST', '/v1/sign/image', { refs: [fileId] });
  const film = await readFile(await render(clip, folder));
  const longThread = `long-${randomUUID()}`;
  const text = `/fail ${'lorem ipsum dolor '.repeat(messageBytes / 18)}`;
  for (let index = 0; index < messages; index++) {
    await call('agent', 'POST', '/task', { threadId: longThread, text });
    await untilIdle(caller, longThread);
  }
  const content = (index: number) => `I like number ${index} of ${'many long words '.repeat(100)}`;
  for (let index = 0; index < memories; index++)
    await call('memory', 'POST', '/memory/add', {
      entity_id: userId,
      entity_type: 'user',
      type: 'preference',
      content: content(index),
    });
  return {
    ...caller,
    assetIds: Array.from({ length: 50 }, () => randomUUID()),
    imageId: await upload(await makeImage('png', { width: 700 }), 'image', 'image/png'),
    videoIds: await Promise.all(Array.from({ length: 25 }, () => upload(film, 'video', 'video/mp4'))),
    longThread,
    fileUrl: signed[fileId]?.url ?? '',
  };
}

export async function untilIdle({ call }: Pick<Account, 'call'>, threadId: string): Promise<void> {
  for (let task: unknown = {}; task !== null; ) {
    const found = await call<{ task: { status: string } | null }>('agent', 'GET', `/thread/${threadId}/current-task`);
    task = found.task?.status === 'running' ? found.task : null;
  }
}
