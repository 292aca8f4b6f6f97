/** Blocked objects as evidence (docs/specification/media.md#quarantine). */
import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AuditTables } from '#platform/audit/audit.ts';
import { says, saysClean, startClassifier, type TestClassifier } from '../../../test/media/classifier.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { digestOf, type Lists, openLists } from '../../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryStore, type Refusal, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { Asset } from '../api.ts';
import type { MediaContext } from '../context.ts';
import type { Incident, IncidentPage } from '../incidents/api.ts';
import type { Swept } from '../sweeping/api.ts';
import type { MediaTables } from '../tables.ts';
import { createQuarantine, evidenceKeyOf } from './quarantine.ts';

const file = { kind: 'file', mime: 'application/octet-stream' };

onEveryStore('the quarantine', (pair) => {
  let rig: MediaRig;
  let lists: Lists;
  let classifier: TestClassifier;
  const quarantineKey = randomBytes(32).toString('base64');
  beforeAll(async () => {
    lists = await openLists();
    classifier = await startClassifier();
    const screeningRules = [{ label: 'nudity', minScore: 0.5, action: 'block' }] as const;
    const screening = { blockedHashes: lists.folder, screeningUrl: classifier.url, screeningRules };
    rig = await startMedia(pair, { ...screening, quarantineKey });
  });
  afterAll(async () => {
    await rig.close();
    await classifier.close();
    await lists.close();
  });

  const rows = () => rig.database.queries<MediaTables>();
  const incidentOf = async (assetId: string) => {
    const { body } = await rig.server.get<IncidentPage>('/v1/incidents?limit=200');
    const found = body.incidents.find((incident) => incident.assetId === assetId);
    if (found === undefined) throw new Error('there is no incident');
    return found;
  };
  const read = (id: string, headers: Record<string, string> = { 'x-internal-key': rig.internalKey }) =>
    fetch(`${rig.url}/v1/incidents/${id}/evidence`, { headers });
  const bytesOf = async (id: string) => Buffer.from(await (await read(id)).arrayBuffer());
  const kept = async () => {
    const keys: string[] = [];
    for await (const { key } of rig.originals.list('quarantine/')) keys.push(key);
    return keys;
  };
  const expire = (daysLater: number) =>
    createQuarantine(
      {
        objects: rig.originals,
        db: rows(),
        clock: { now: () => Date.now() + daysLater * 86_400_000 },
      } as MediaContext,
      { quarantineKey: undefined, quarantineDays: 365 },
    ).expire();
  const sweep = async () => {
    const found: Swept['found'] = [];
    for (let cursor: string | null = null; ; ) {
      const swept: Swept = (await rig.server.post<Swept>('/v1/sweep', { apply: true, cursor })).body;
      found.push(...swept.found);
      cursor = swept.cursor;
      if (cursor === null) return found;
    }
  };

  /** Blocked by a list. */
  async function block(bytes: Buffer, changes: object = file) {
    await lists.write('sha256', digestOf('sha256', bytes));
    const made = await upload(rig.user, bytes, changes);
    const { status, body } = await rig.user.post('/v1/assets', made.registration);
    expect([status, body.error]).toEqual([451, 'csam_blocked']);
    return {
      ...made,
      assetId: String(made.registration.assetId),
      incident: await incidentOf(String(made.registration.assetId)),
    };
  }

  it('has the bytes that a list blocked, encrypted, for root operators, with an entry in the audit log', async () => {
    // Several chunks, and a part of one.
    const bytes = randomBytes(150_000);
    const { incident, storageKey, assetId } = await block(bytes);
    expect(await rig.originals.head(storageKey)).toBeUndefined();
    const days = (Date.parse(String(incident.evidenceUntil)) - Date.parse(incident.createdAt)) / 86_400_000;
    expect(days).toBeCloseTo(365, 1);
    const key = evidenceKeyOf(assetId, digestOf('sha256', bytes), false);
    expect(await kept()).toContain(key);
    const stored = await rig.originals.get(key);
    expect((await buffer(stored?.stream ?? Readable.from([]))).includes(bytes.subarray(0, 16))).toBe(false);
    const response = await read(incident.id);
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      ...[200, 'application/octet-stream', 'no-store'],
    ]);
    expect(response.headers.get('content-disposition')).toContain('attachment');
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const audit = await rig.database.queries<AuditTables>().selectFrom('operator_actions').selectAll().execute();
    expect(audit).toContainEqual(
      expect.objectContaining({
        action: 'GET /v1/incidents/:id/evidence',
        target: expect.stringMatching(`^incident ${incident.id} sha256 `),
      }),
    );
    const authorization = `Bearer ${await rig.issuer.token({ sub: rig.userId })}`;
    expect((await read(incident.id, { authorization })).status).toBe(403);
    expect((await read(incident.id, {})).status).toBe(401);
    expect((await read(randomUUID())).status).toBe(404);
  });

  it('has what a label blocked, a blocked copy, and what a rescreening blocked', async () => {
    const labeled = await makeImage('png', { seed: 1 });
    classifier.answer = says({ match: false, labels: [{ name: 'nudity', score: 0.9 }] });
    const { registration } = await upload(rig.user, labeled);
    expect((await rig.user.post('/v1/assets', registration)).body.error).toBe('content_blocked');
    classifier.answer = saysClean;
    const incident = await incidentOf(String(registration.assetId));
    expect((await bytesOf(incident.id)).equals(labeled)).toBe(true);

    const image = await makeImage('png', { seed: 2 });
    const source = await upload(rig.user, image);
    const { body } = await rig.user.post<Asset>('/v1/assets', source.registration);
    await lists.write('sha256', digestOf('sha256', image));
    const copied = await rig.user.post('/v1/copy', { fromAssetId: body.assetId, toScopeKind: 'album', toScopeId: '1' });
    expect(copied.status).toBe(451);
    const job = await rig.server.post<{ readonly jobId: string }>('/v1/rescreen', {});
    await vi.waitFor(async () => expect((await rig.jobs.find(job.body.jobId))?.status).toBe('done'), {
      timeout: 30_000,
    });
    const { incidents } = (await rig.server.get<IncidentPage>('/v1/incidents?limit=200')).body;
    const both = incidents.filter(({ sha256 }) => sha256 === digestOf('sha256', image));
    expect(both).toHaveLength(2);
    for (const { id } of both) expect((await bytesOf(id)).equals(image)).toBe(true);
  });

  it('keeps one copy of the same bytes under the same id, and its owner cannot remove it', async () => {
    const bytes = randomBytes(100);
    const { registration, incident, assetId } = await block(bytes);
    await upload(rig.user, bytes, registration);
    expect((await rig.user.post('/v1/assets', registration)).status).toBe(451);
    expect((await kept()).filter((key) => key.includes(assetId))).toHaveLength(1);
    await rig.user.delete('/v1/assets', { ids: [assetId] });
    await rig.user.delete('/v1/scope', { ownerId: rig.userId });
    await sweep();
    expect((await bytesOf(incident.id)).equals(bytes)).toBe(true);
  });

  it('is removed when the days are over, also without the key', async () => {
    const { incident, assetId } = await block(randomBytes(100));
    await expire(364);
    expect((await read(incident.id)).status).toBe(200);
    await expire(366);
    expect((await kept()).filter((key) => key.includes(assetId))).toEqual([]);
    const gone = await rig.server.get<Refusal>(`/v1/incidents/${incident.id}/evidence`);
    expect([gone.status, gone.body.error]).toEqual([404, 'no_evidence']);
    expect((await rig.server.get<Incident>(`/v1/incidents/${incident.id}`)).body.evidenceUntil).toBeNull();
  });

  it('returns nothing with another key', async () => {
    const { incident } = await block(randomBytes(100));
    for (const other of [randomBytes(32).toString('base64'), undefined]) {
      const settings = { quarantineKey: other, quarantineDays: 365 };
      const quarantine = createQuarantine(
        { objects: rig.originals, db: rows(), clock: { now: Date.now } } as MediaContext,
        settings,
      );
      await expect(quarantine.open(incident.id)).rejects.toMatchObject({ code: 'evidence_locked', status: 409 });
    }
  });

  it('loses the labeled content of a person who is erased, and not prohibited content', async () => {
    const prohibited = await block(randomBytes(100));
    classifier.answer = says({ match: false, labels: [{ name: 'nudity', score: 0.9 }] });
    const { registration } = await upload(rig.user, await makeImage('png', { seed: 3 }));
    expect((await rig.user.post('/v1/assets', registration)).status).toBe(451);
    classifier.answer = saysClean;
    const labeled = await incidentOf(String(registration.assetId));
    expect((await rig.server.delete(`/v1/people/${rig.userId}`)).status).toBe(200);
    expect((await read(labeled.id)).status).toBe(404);
    expect((await kept()).filter((key) => key.includes(String(registration.assetId)))).toEqual([]);
    expect((await read(prohibited.incident.id)).status).toBe(200);
    expect((await kept()).some((key) => key.includes(rig.userId))).toBe(false);
  });

  it('a sweep removes old copies that no incident names, and no others', async () => {
    const { incident } = await block(randomBytes(100));
    const key = evidenceKeyOf(randomUUID(), '0'.repeat(64), false);
    await rig.originals.put(key, Buffer.from('x'), { contentType: 'application/octet-stream' });
    expect((await sweep()).filter(({ what }) => what === 'evidence_without_incident')).toEqual([]);
    expect(await kept()).toContain(key);
    expect((await read(incident.id)).status).toBe(200);
  });
});
