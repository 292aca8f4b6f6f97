/** Labels of the classifier, and the rules about them (docs/specification/media.md#labels). */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { says, saysClean, startClassifier, type TestClassifier } from '../../../test/media/classifier.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { inBucket, lay } from '../../../test/media/laying.fixture.ts';
import { digestOf, type Lists, openLists } from '../../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { Asset } from '../api.ts';
import type { Incident, IncidentPage } from '../incidents/api.ts';
import type { AssetPage } from '../listing/api.ts';
import type { MediaTables } from '../tables.ts';

const screeningRules = [
  { label: 'nudity', minScore: 0.5, action: 'flag' },
  { label: 'nudity', minScore: 0.9, action: 'block' },
  { label: 'gore', minScore: 0.8, action: 'restrict' },
  { label: 'weapon', minScore: 0.5, action: 'flag' },
] as const;
const blocked = (label: string) => ({ status: 451, body: { error: 'content_blocked', label } });

onEveryPair('labels', (pair) => {
  let rig: MediaRig;
  let lists: Lists;
  let classifier: TestClassifier;
  beforeAll(async () => {
    lists = await openLists();
    classifier = await startClassifier();
    rig = await startMedia(pair, {
      ...{ blockedHashes: lists.folder, screeningUrl: classifier.url, screeningRules, publishes: true },
    });
  });
  afterEach(async () => {
    classifier.answer = saysClean;
    await lists.clear();
  });
  afterAll(async () => {
    await rig.close();
    await classifier.close();
    await lists.close();
  });

  const sees = (labels: Record<string, number>, more: object = { match: false }) => {
    classifier.answer = says({ ...more, labels: Object.entries(labels).map(([name, score]) => ({ name, score })) });
  };
  let seed = 0;
  const fresh = () => makeImage('png', { seed: seed++ });
  async function register(changes: object = {}, bytes?: Buffer) {
    const { registration, storageKey } = await upload(rig.user, bytes ?? (await fresh()), changes);
    const answer = await rig.user.post<Asset & Refusal & { label?: string }>('/v1/assets', registration);
    return { ...answer, registration, assetId: String(registration.assetId), storageKey };
  }
  const incidentsOf = async (assetId: string) =>
    (await rig.server.get<IncidentPage>('/v1/incidents?limit=200')).body.incidents.filter(
      (incident) => incident.assetId === assetId,
    );
  const read = async (assetId: string, client = rig.user) => (await client.get<Asset>(`/v1/assets/${assetId}`)).body;
  const copy = (fromAssetId: string, toScopeKind = 'album') =>
    rig.user.post<Asset & Refusal>('/v1/copy', { fromAssetId, toScopeKind, toScopeId: '1' });
  const resolve = (id: string, resolution: string) =>
    rig.server.post<Incident>(`/v1/incidents/${id}/resolution`, { resolution });
  const decide = (id: string, decision: string) =>
    rig.server.post<Incident>(`/v1/incidents/${id}/decision`, { decision, statement: 'We looked at it.' });

  it('a label blocks from its score on, and nothing is said about prohibited content', async () => {
    sees({ nudity: 0.9, cat: 0.2 });
    const refused = await register();
    expect(refused).toMatchObject(blocked('nudity'));
    expect(await rig.originals.head(refused.storageKey)).toBeUndefined();
    const [incident, ...others] = await incidentsOf(refused.assetId);
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ list: 'nudity', label: 'nudity', origin: null, status: 'open' });
    const appeal = await rig.user.post(`/v1/incidents/${refused.assetId}/appeal`, { text: 'This is a statue.' });
    const metrics = await (
      await fetch(`${rig.url}/metrics`, { headers: { 'x-internal-key': rig.internalKey } })
    ).text();
    const metric = /^media_incidents_total\{.*"label".*\} 1$/m.exec(metrics)?.[0];
    expect(metric).toBeDefined();
    const counts = await rig.server.get('/v1/incidents/counts');
    const jobs = await rig.database.queries<{ jobs: { payload: unknown } }>().selectFrom('jobs').selectAll().execute();
    const event = jobs.find(({ payload }) => JSON.stringify(payload).includes(refused.assetId));
    expect(JSON.stringify(event)).toMatch(/asset\.blocked.*label/);
    const everything = [refused.body, incident, appeal.body, metric, counts.body, event];
    expect(JSON.stringify(everything)).not.toMatch(/csam|prohibited/i);
  });

  it('a label below the score of each rule is on the row, for its owner and for servers only', async () => {
    sees({ nudity: 0.49, cat: 0.98 });
    const { status, body, assetId } = await register({ scopeKind: 'feed', scopeId: '1' });
    const labels = [
      { name: 'cat', score: 0.98 },
      { name: 'nudity', score: 0.49 },
    ];
    expect([status, body.labels]).toEqual([201, labels]);
    expect((await read(assetId)).labels).toEqual(labels);
    expect((await read(assetId, rig.server)).labels).toEqual(labels);
    expect((await read(assetId, rig.otherUser)).labels).toEqual([]);
    expect(await incidentsOf(assetId)).toEqual([]);
  });

  it('assets are found by a label', async () => {
    const name = `Möwe "${randomUUID()}"`;
    sees({ [name]: 0 });
    const { assetId } = await register();
    const list = async (query: string, client = rig.user) =>
      (await client.get<AssetPage>(`/v1/assets?${query}`)).body.assets.map((asset) => asset.assetId);
    const query = `label=${encodeURIComponent(name)}`;
    expect(await list(query)).toEqual([assetId]);
    expect(await list(`${query}&ownerId=${rig.userId}`, rig.server)).toEqual([assetId]);
    expect(await list(query, rig.otherUser)).toEqual([]);
    expect(await list(`label=${encodeURIComponent(name.slice(0, -1))}`)).toEqual([]);
    for (const wrong of ['label=', 'label=%00', `label=${'a'.repeat(201)}`])
      expect((await rig.user.get(`/v1/assets?${wrong}`)).body).toMatchObject({
        issues: [{ path: 'querystring.label' }],
      });
  });

  it('a flag leaves the asset readable, and operators decide about it', async () => {
    sees({ weapon: 0.5 });
    const { assetId, status } = await register({ scopeKind: 'feed', scopeId: '1' });
    expect(status).toBe(201);
    expect((await rig.otherUser.get(`/v1/assets/${assetId}`)).status).toBe(200);
    const [incident] = await incidentsOf(assetId);
    expect(incident).toMatchObject({ origin: 'label', list: 'weapon', label: 'weapon', reports: 0, status: 'open' });
    expect((await rig.user.post(`/v1/incidents/${assetId}/appeal`, { text: 'Why?' })).status).toBe(404);
    expect((await decide(String(incident?.id), 'restrict')).body).toMatchObject({ status: 'upheld' });
    expect((await rig.otherUser.get(`/v1/assets/${assetId}`)).status).toBe(404);
  });

  it('a restriction leaves the asset to its owner, who can appeal, until operators dismiss it', async () => {
    sees({ gore: 0.8, weapon: 0.9 });
    const bytes = await fresh();
    const { assetId } = await register({ scopeKind: 'feed', scopeId: '1' }, bytes);
    const statusFor = async (id: string) => [
      (await rig.user.get(`/v1/assets/${id}`)).status,
      (await rig.otherUser.get(`/v1/assets/${id}`)).status,
    ];
    expect(await statusFor(assetId)).toEqual([200, 404]);
    const [incident, ...others] = await incidentsOf(assetId);
    expect([incident?.label, others]).toEqual(['gore', []]);
    const shared = await rig.user.post('/v1/shares', { assetId });
    expect([shared.status, shared.body.error]).toEqual([403, 'content_restricted']);
    // A copy for others has other bytes.
    const copied = await copy(assetId, 'feed');
    expect(await statusFor(copied.body.assetId)).toEqual([200, 404]);
    expect((await rig.user.post(`/v1/incidents/${assetId}/appeal`, { text: 'A film.' })).status).toBe(200);
    expect((await decide(String(incident?.id), 'dismiss')).status).toBe(200);
    expect(await statusFor(assetId)).toEqual([200, 200]);
    // The dismissal is about these bytes and this label.
    const [again] = await incidentsOf((await copy(assetId)).body.assetId);
    expect(again).toMatchObject({ label: 'weapon', status: 'open' });
  });

  it('a list and a match decide before any label, and clearing one does not clear the other', async () => {
    sees({ nudity: 1 }, { match: true, list: 'industry' });
    expect((await register()).body.error).toBe('csam_blocked');
    const bytes = await fresh();
    sees({ nudity: 1 });
    const first = await register({}, bytes);
    const [incident] = await incidentsOf(first.assetId);
    await resolve(String(incident?.id), 'cleared');
    const second = await register({}, bytes);
    expect([second.status, second.body.labels]).toEqual([201, [{ name: 'nudity', score: 1 }]]);
    await lists.write('sha256', digestOf('sha256', bytes));
    const third = await register({}, bytes);
    expect(third.body.error).toBe('csam_blocked');
    const [listed] = await incidentsOf(third.assetId);
    expect(listed).toMatchObject({ list: 'sha256', label: null });
    await resolve(String(listed?.id), 'cleared');
    expect((await register({}, bytes)).status).toBe(201);
    await resolve(String(incident?.id), 'upheld');
    expect(await register({}, bytes)).toMatchObject(blocked('nudity'));
  });

  it.each<[string, unknown]>([
    ['a score that is a text', [{ name: 'cat', score: '0.5' }]],
    ['a score above 1', [{ name: 'cat', score: 1.01 }]],
    ['a negative score', [{ name: 'cat', score: -0.1 }]],
    ['no score', [{ name: 'cat' }]],
    ['no name', [{ score: 0.5 }]],
    ['an empty name', [{ name: '', score: 0.5 }]],
    ['a name with NUL', [{ name: 'a\0', score: 0.5 }]],
    ['a name of 201 characters', [{ name: 'a'.repeat(201), score: 0.5 }]],
    ['a map', { cat: 0.5 }],
    ['null', null],
  ])('%s is a failed check', async (_title, labels) => {
    classifier.answer = says({ match: false, labels });
    const refused = await register();
    expect([refused.status, refused.body.error]).toEqual([503, 'screening_unavailable']);
    sees({ cat: 0.5 });
    expect((await rig.user.post('/v1/assets', refused.registration)).status).toBe(201);
  });

  it('a classifier may answer labels alone', async () => {
    sees({ cat: 0.5, dog: 0.6 }, {});
    expect((await register()).body.labels).toHaveLength(2);
    sees({ nudity: 0.95 }, {});
    expect(await register()).toMatchObject(blocked('nudity'));
  });

  it('an imported file of the legacy backend stays, and its path ends', async () => {
    const path = `${rig.userId}/${randomUUID()}/photo.jpg`;
    await lay(rig, [path], await fresh());
    const request = { ownerId: rig.userId, scopeKind: 'feed', scopeId: '1', path };
    const importIt = () => inBucket(rig, rig.server).post<Refusal & { label?: string }>('/v1/assets/legacy', request);
    sees({ nudity: 1 });
    expect(await importIt()).toMatchObject(blocked('nudity'));
    expect(await rig.legacyFiles.head(path)).toBeDefined();
    const signed = await inBucket(rig, rig.server).post<Record<string, object>>('/v1/sign/image', { refs: [path] });
    expect(signed.body[path]).toMatchObject({ ready: false });
    sees({ weapon: 1 });
    expect((await importIt()).status).toBe(201);
  });

  it('rescreening applies rules that are newer than the labels', async () => {
    const rows = rig.database.queries<MediaTables>();
    const made = await Promise.all([0, 1, 2].map(() => register({ scopeKind: 'feed', scopeId: '1' })));
    const [bad, hidden, listed] = made.map(({ assetId }) => assetId);
    const label = async (assetId: string | undefined, name: string) =>
      rows
        .updateTable('assets')
        .set({ labels: JSON.stringify([{ name, score: 1 }]) })
        .where('asset_id', '=', String(assetId))
        .execute();
    await label(bad, 'nudity');
    await label(hidden, 'gore');
    await label(listed, 'weapon');
    const before = (await rig.user.sign([String(hidden)])).body[String(hidden)];
    for (let times = 0; times < 2; times++) {
      const { body } = await rig.server.post<{ readonly jobId: string }>('/v1/rescreen', {});
      await vi.waitFor(async () => expect((await rig.jobs.find(body.jobId))?.status).toBe('done'), { timeout: 30_000 });
    }
    expect(
      await Promise.all(made.map(async ({ assetId }) => (await rig.otherUser.get(`/v1/assets/${assetId}`)).status)),
    ).toEqual([404, 404, 200]);
    expect((await rig.user.get(`/v1/assets/${hidden}`)).status).toBe(200);
    expect((await rig.user.get(`/v1/assets/${bad}`)).status).toBe(404);
    for (const { assetId } of made) expect(await incidentsOf(assetId)).toHaveLength(1);
    // URLs from before end, as those of a decision.
    await vi.waitFor(
      async () => expect((await fetch(String(before && 'url' in before && before.url))).status).toBe(404),
      { timeout: 30_000 },
    );
  });

  describe.skipIf(skipWithout('ffmpeg'))('of a video', () => {
    let film: Buffer;
    beforeAll(async () => {
      const { offlineVideos } = await import('#local/renderer/renderer.ts');
      const order = { prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal };
      film = Buffer.from((await offlineVideos.download(order)).bytes);
    });
    const video = { kind: 'video', mime: 'video/mp4' };
    const generated = async () => {
      const changes = { ...video, ownerId: rig.userId };
      const { registration } = await upload(rig.server, film, changes);
      return rig.server.post<Asset & Refusal>('/v1/assets', { ...registration, generated: 'ai' });
    };

    it('that a model made, a frame is judged before it is readable', async () => {
      sees({ nudity: 1 });
      expect(await generated()).toMatchObject(blocked('nudity'));
      sees({ weapon: 1 });
      const { status, body } = await generated();
      expect([status, body.labels]).toEqual([201, [{ name: 'weapon', score: 1 }]]);
      expect(await incidentsOf(body.assetId)).toMatchObject([{ label: 'weapon', origin: 'label' }]);
    });

    it('that was uploaded, its poster is judged, and counts for the video', async () => {
      const task = async () => {
        const { registration } = await upload(rig.user, film, { ...video, scopeKind: 'feed', scopeId: '1' });
        const { body } = await rig.user.post<{ taskId: string }>('/v1/media-tasks/video', registration);
        const read = async () =>
          (await rig.user.get<{ status: string; metadata: object }>(`/v1/media-tasks/${body.taskId}`)).body;
        await vi.waitFor(async () => expect((await read()).status).toMatch(/completed|failed/), { timeout: 60_000 });
        return { assetId: String(registration.assetId), metadata: (await read()).metadata };
      };
      sees({ gore: 1 });
      const hidden = await task();
      expect((await rig.otherUser.get(`/v1/assets/${hidden.assetId}`)).status).toBe(404);
      expect((await read(hidden.assetId)).labels).toEqual([{ name: 'gore', score: 1 }]);
      expect(await incidentsOf(hidden.assetId)).toMatchObject([{ label: 'gore', origin: 'label' }]);
      sees({ nudity: 1 });
      expect((await task()).metadata).toMatchObject({ error: 'content_blocked' });
    }, 90_000);
  });

  it('a PNG that is marked and stripped has the labels of its pixels', async () => {
    sees({ cat: 0.7 });
    const png = await fresh();
    const changes = { ownerId: rig.userId, mime: 'image/png', scopeKind: 'feed', scopeId: '1' };
    const { registration } = await upload(rig.server, png, changes);
    const { body } = await rig.server.post<Asset>('/v1/assets', { ...registration, generated: 'ai' });
    expect(body).toMatchObject({ generated: 'ai', labels: [{ name: 'cat', score: 0.7 }] });
    expect(body.sha256).not.toBe(digestOf('sha256', png));
  });
});
