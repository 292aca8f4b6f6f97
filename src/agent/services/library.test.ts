import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { problems } from '#platform/problem.ts';
import { type AgentRig, startAgent } from '../../../test/agent/rig.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';
import type { Generation } from '../generation/api.ts';
import { keepMade } from './library.ts';

let rig: AgentRig;
let client: HttpClient | undefined;
const refused: string[] = [];

/** As the media service of version 1.0.0. */
const earlierMedia: HttpClient = {
  send: (call) => {
    const { url: baseUrl, internalKey } = rig.media;
    client ??= createClient({ name: 'media', baseUrl, isInternal: true, internalKey, timeoutMs: 10_000 });
    if (call.route !== '/v1/deposits') return client.send(call);
    refused.push(call.route);
    return client.send({ ...call, route: '/v1/unknown' });
  },
  close: async () => client?.close(),
};

const sizes = { maxImageBytes: 1e7, maxVideoBytes: 1e7, maxSourcePixels: 1e7 };

beforeAll(async () => {
  rig = await startAgent(embedded, { media: earlierMedia }, { sizes });
});
afterAll(async () => {
  await rig.close();
  await earlierMedia.close();
});

it('uploads images to a media service without deposits, and they have their mark', async () => {
  const user = await rig.user();
  const body = { prompt: 'a lighthouse', n: 2 };
  const made = await user.call<Generation>('POST', '/images', body, { prefer: 'wait=60' });
  expect(made.body.items.map(({ failure }) => failure)).toEqual([null, null]);
  expect([made.status, made.body.status, refused]).toEqual([201, 'completed', ['/v1/deposits', '/v1/deposits']]);
  const ids = made.body.items.map(({ assetId }) => String(assetId));
  expect(Object.values((await rig.media.server.sign(ids)).body)).toMatchObject([
    { ready: true, generated: 'ai' },
    { ready: true, generated: 'ai' },
  ]);
});

it('gives a media service that is slow or busy more tries, because the provider of the image was paid', async () => {
  const assetId = '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';
  const answers = [
    async () => ({ status: 408, json: () => ({ error: 'request_timeout', message: 'Too slow.' }) }),
    () => Promise.reject(problems.engine_unavailable()),
    async () => ({ status: 201, json: () => ({ assetId, mime: 'image/png' }) }),
  ];
  const media = { send: () => answers.shift()?.() } as unknown as HttpClient;
  const made = { kind: 'image', mime: 'image/png', bytes: new Uint8Array(1) } as const;
  const deposit = { ...made, reference: 'generation:1:0', ownerId: assetId, threadId: 't' };
  expect(await keepMade({ media }, deposit)).toEqual({ assetId, mime: 'image/png' });
});
