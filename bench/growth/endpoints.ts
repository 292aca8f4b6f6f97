/** Each endpoint of the media service that reads or writes rows, called once; what a call uses up is made before it. */
import { randomUUID } from 'node:crypto';
import { makeImage } from '../../test/media/images.fixture.ts';

interface Endpoint {
  /** Not measured; what it makes is given to the call. */
  prepare?(): Promise<string>;
  call(made: string): Promise<unknown>;
}

export type Endpoints = Readonly<Record<string, Endpoint>>;

const scope = { scopeKind: 'thread', scopeId: 'growth' };

export function createEndpoints(
  media: string,
  credentials: { readonly userId: string; readonly token: string; readonly internalKey: string },
  own: readonly string[],
): Endpoints {
  const send = (headers: Readonly<Record<string, string>>) => async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(media + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const asUser = send({ authorization: `Bearer ${credentials.token}` });
  const asServer = send({ 'x-internal-key': credentials.internalKey });
  const ownerId = randomUUID();
  const some = (count: number) => Array.from({ length: count }, () => own[Math.floor(Math.random() * own.length)]);
  const image = { kind: 'image', mime: 'image/png' };

  async function upload(into = scope): Promise<string> {
    const { assetId, uploadUrl, headers } = await asUser('POST', '/v1/uploads', { ...into, ...image });
    const body = new Uint8Array(await makeImage('png', { seed: Math.floor(Math.random() * 256) }));
    await fetch(String(uploadUrl), { method: 'PUT', headers: headers as Record<string, string>, body });
    return String(assetId);
  }
  const register = (assetId: string, into = scope) => asUser('POST', '/v1/assets', { assetId, ...into, ...image });
  async function make(into = scope): Promise<string> {
    const assetId = await upload(into);
    await register(assetId, into);
    return assetId;
  }
  const putTask = (taskId: string) =>
    asServer('POST', '/v1/media-tasks', { taskId, ownerId, mediaType: 'video', metadata: {} });

  return {
    'POST /v1/uploads': { call: () => asUser('POST', '/v1/uploads', { ...scope, ...image }) },
    'POST /v1/assets': { prepare: () => upload(), call: (assetId) => register(assetId) },
    'POST /v1/assets, replayed': { prepare: () => make(), call: (assetId) => register(assetId) },
    'GET /v1/assets': { call: () => asUser('GET', '/v1/assets') },
    'POST /v1/sign/image, 200 refs': { call: () => asUser('POST', '/v1/sign/image', { refs: some(200) }) },
    'POST /v1/sign/image, 1 unknown': { call: () => asUser('POST', '/v1/sign/image', { refs: [randomUUID()] }) },
    'POST /v1/sign/video, 50 refs': { call: () => asUser('POST', '/v1/sign/video', { refs: some(50) }) },
    'POST /v1/fit': { prepare: () => make(), call: (ref) => asUser('POST', '/v1/fit', { ref, maxBytes: 100_000 }) },
    'POST /v1/copy': {
      prepare: () => make(),
      call: (fromAssetId) => asUser('POST', '/v1/copy', { fromAssetId, toScopeKind: 'feed', toScopeId: 'growth' }),
    },
    'POST /v1/watermark': { prepare: () => make(), call: (ref) => asUser('POST', '/v1/watermark', { ref }) },
    'DELETE /v1/assets': { prepare: () => make(), call: (id) => asUser('DELETE', '/v1/assets', { ids: [id] }) },
    'DELETE /v1/scope': {
      prepare: async () => {
        const into = { scopeKind: 'thread', scopeId: randomUUID() };
        await make(into);
        return into.scopeId;
      },
      call: (scopeId) => asUser('DELETE', '/v1/scope', { ownerId: credentials.userId, scopeKind: 'thread', scopeId }),
    },
    'POST /v1/media-tasks': { call: () => putTask(randomUUID()) },
    'GET /v1/media-tasks/:taskId': {
      prepare: async () => String((await putTask(randomUUID())).taskId),
      call: (taskId) => asServer('GET', `/v1/media-tasks/${taskId}`),
    },
    'DELETE /v1/media-tasks/:taskId': {
      prepare: async () => String((await putTask(randomUUID())).taskId),
      call: (taskId) => asServer('DELETE', `/v1/media-tasks/${taskId}`),
    },
    'DELETE /v1/media-tasks': {
      prepare: async () => String((await putTask(randomUUID())).taskId),
      call: () => asServer('DELETE', '/v1/media-tasks', { ownerId }),
    },
  };
}
