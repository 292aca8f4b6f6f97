/** Appeals of owners, the blurred rendition, counts and filters (docs/specification/media.md#incidents). */
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { lay } from '../../../test/media/laying.fixture.ts';
import { digestOf, type Lists, openLists } from '../../../test/media/lists.fixture.ts';
import {
  type Client,
  embedded,
  type MediaRig,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { AppealedIncident, Incident, IncidentCounts, IncidentPage } from './api.ts';

let rig: MediaRig;
let lists: Lists;
beforeAll(async () => {
  lists = await openLists();
  rig = await startMedia(embedded, { blockedHashes: lists.folder });
});
afterAll(async () => {
  await rig.close();
  await lists.close();
});
beforeEach(() => lists.clear());

const prohibit = (content: Buffer) => lists.write('sha256', digestOf('sha256', content));
const file = { kind: 'file', mime: 'application/pdf' };
const list = async (query: string) =>
  (await rig.server.get<IncidentPage>(`/v1/incidents?limit=200&${query}`)).body.incidents;

async function blocked(): Promise<{ readonly assetId: string; readonly incident: Incident }> {
  const content = Buffer.from(`prohibited ${randomUUID()}`);
  await prohibit(content);
  const { registration } = await upload(rig.user, content, file);
  expect((await rig.user.post('/v1/assets', registration)).status).toBe(451);
  const [incident] = (await list('')).filter(({ assetId }) => assetId === registration.assetId);
  if (incident === undefined) throw new Error('there is no incident');
  return { assetId: registration.assetId ?? '', incident };
}

const appeal = (id: string, text: string, client: Client = rig.user) =>
  client.post<AppealedIncident & Refusal>(`/v1/incidents/${id}/appeal`, { text });

it('an owner appeals once, by the id of the incident or of the blocked asset', async () => {
  const { assetId, incident } = await blocked();
  const { status, body } = await appeal(assetId, '  I drew this myself.  ');
  expect([status, body]).toEqual([200, { id: incident.id, status: 'open', appealedAt: expect.any(String) }]);
  const read = (await rig.server.get<Incident>(`/v1/incidents/${incident.id}`)).body;
  expect(read.appeal).toEqual({ text: 'I drew this myself.', at: body.appealedAt });
  const again = await appeal(incident.id, 'Once more.');
  expect([again.status, again.body.error]).toEqual([409, 'not_appealable']);
});

it('stores one of several concurrent appeals', async () => {
  const { incident } = await blocked();
  const answers = await Promise.all(['one', 'two', 'three'].map((text) => appeal(incident.id, text)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});

it('only the owner can appeal, and a cleared incident cannot be appealed', async () => {
  const { assetId, incident } = await blocked();
  expect((await appeal(incident.id, 'Mine!', rig.otherUser)).status).toBe(404);
  expect((await appeal(assetId, 'Mine!', rig.otherUser)).status).toBe(404);
  expect((await appeal(incident.id, 'Ours.', rig.server)).status).toBe(403);
  expect((await appeal(randomUUID(), 'Whose?')).status).toBe(404);
  await rig.server.post(`/v1/incidents/${incident.id}/resolution`, { resolution: 'cleared' });
  expect((await appeal(incident.id, 'Thanks.')).status).toBe(409);
});

it.each([
  ['empty', ' '],
  ['too long', 'x'.repeat(2001)],
  ['not storable', 'a\0b'],
])('a text that is %s is 400', async (_case, text) => {
  const { incident } = await blocked();
  expect((await appeal(incident.id, text)).status).toBe(400);
  expect((await appeal(incident.id, 'x'.repeat(2000))).status).toBe(200);
});

it('incidents are counted, and filtered by owner, list and appeal', async () => {
  const before = (await rig.server.get<IncidentCounts>('/v1/incidents/counts')).body;
  const { incident } = await blocked();
  await appeal(incident.id, 'I object.');
  const { body } = await rig.server.get<IncidentCounts>('/v1/incidents/counts');
  expect(body.open).toBe(before.open + 1);
  expect(body.openAppeals).toBe(before.openAppeals + 1);
  expect(body.lists.sha256).toBe((before.lists.sha256 ?? 0) + 1);
  expect((await list('appealed=true')).map(({ id }) => id)).toContain(incident.id);
  expect((await list(`ownerId=${incident.ownerId}`)).map(({ id }) => id)).toContain(incident.id);
  expect(await list(`ownerId=${randomUUID()}`)).toEqual([]);
  expect(await list('list=md5')).toEqual([]);
  for (const path of ['/v1/incidents/counts', `/v1/incidents/${incident.id}/preview`, '/v1/rescreen'])
    expect([path, (await rig.user.get(path)).status]).toEqual([path, 403]);
});

it('shows a remaining image with 24 blurred pixels, and no other content', async () => {
  const png = await makeImage('png');
  const path = `feed/${randomUUID()}/a.png`;
  await lay(rig, [path], png);
  await prohibit(png);
  const { legacyBucket, userId } = rig;
  const request = { path, legacyBucket, ownerId: userId, scopeKind: 'thread', scopeId: '1' };
  expect((await rig.server.post('/v1/assets/legacy', request)).status).toBe(451);
  const [incident] = (await list('')).filter(({ origin }) => origin === `${legacyBucket}/${path}`);
  const response = await fetch(`${rig.url}/v1/incidents/${incident?.id}/preview`, {
    headers: { 'x-internal-key': rig.internalKey },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp']);
  const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
  expect(Math.max(width, height)).toBeLessThanOrEqual(24);

  const removed = await blocked();
  const nothing = await rig.server.get<Refusal>(`/v1/incidents/${removed.incident.id}/preview`);
  expect([nothing.status, nothing.body.error]).toEqual([404, 'nothing_left_to_show']);
  const asItIs = await rig.server.get<Refusal>(`/v1/incidents/${incident?.id}/preview?sharp=true`);
  expect([asItIs.status, asItIs.body.error]).toEqual([404, 'nothing_left_to_show']);
});
