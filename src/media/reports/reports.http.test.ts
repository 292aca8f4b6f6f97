/** Reports, decisions, and what they change for readers (docs/specification/media.md#reports). */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { AuditTables } from '#platform/audit/audit.ts';
import { transaction } from '#platform/db/db.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryPair,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { Asset, ImageSignedRefs } from '../api.ts';
import type { Collection } from '../collections/api.ts';
import type { AppealedIncident, Incident, IncidentCounts, IncidentPage } from '../incidents/api.ts';
import type { GalleryPage, Share, SharePage } from '../shares/api.ts';
import { holdShare } from '../shares/sharestore.ts';
import type { MediaTables } from '../tables.ts';
import type { ContentPlaces, OwnDecisions, ReportPage } from './api.ts';
import { writeDecision } from './reportstore.ts';

const patience = { timeout: 30_000 };
type Reported = { readonly id: string } & Refusal;
type Sent = { readonly key: string | undefined; readonly body: Record<string, unknown> };

onEveryPair('reports', (pair) => {
  let rig: MediaRig;
  let png: Buffer;
  let failures = 0;
  let made = 0;
  const sent: Sent[] = [];
  beforeAll(async () => {
    rig = await startMedia(pair, {
      notify: {
        send: async ({ json, headers }) => {
          if (failures > 0) {
            failures -= 1;
            throw new Error('the notify service does not respond');
          }
          sent.push({ key: headers?.['idempotency-key'], body: Object(json) });
          return { status: 200, headers: {}, body: Buffer.alloc(0), json: () => ({}) };
        },
      },
    });
    png = await makeImage('png');
  });
  afterAll(() => rig.close());

  const makeUser = async () => {
    const userId = randomUUID();
    return { userId, client: rig.client({ authorization: `Bearer ${await rig.issuer.token({ sub: userId })}` }) };
  };
  /** Of bytes of its own: what was restricted stays so in other copies. */
  async function publish(client: Client = rig.user, bytes?: Uint8Array): Promise<string> {
    made += 1;
    const content = bytes ?? (await makeImage('png', { seed: made % 256, width: 60 + made }));
    const { registration } = await upload(client, content, { scopeKind: 'feed', scopeId: 'posts' });
    expect((await client.register(registration)).status).toBe(201);
    return registration.assetId;
  }
  const shareOf = async (assetId: string) => (await rig.user.post<Share>('/v1/shares', { assetId })).body.id;
  const reportAs = (client: Client, body: object, headers = {}) => client.post<Reported>('/v1/reports', body, headers);
  const anonymous = () => rig.client({});
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const incidentsOf = async (assetId: string) => {
    const { body } = await rig.server.get<IncidentPage>('/v1/incidents?limit=200');
    return body.incidents.filter((incident) => incident.assetId === assetId);
  };
  const decide = (id: string, body: object) =>
    rig.server.post<Incident & Refusal>(`/v1/incidents/${id}/decision`, body);
  const isReadable = async (client: Client, assetId: string) =>
    (await client.sign([assetId])).body[assetId]?.ready === true;
  async function reportedAsset(): Promise<{ readonly assetId: string; readonly incident: Incident }> {
    const assetId = await publish();
    expect((await reportAs(rig.otherUser, { assetId, reason: 'privacy' })).status).toBe(201);
    const [incident] = await incidentsOf(assetId);
    if (incident === undefined) throw new Error('there is no incident');
    return { assetId, incident };
  }

  it('make an incident, which others join and repetitions do not', async () => {
    const assetId = await publish();
    const one = await makeUser();
    const two = await makeUser();
    const first = await reportAs(one.client, { assetId, reason: 'copyright', note: 'Mine.', contact: 'a@example.com' });
    const again = await reportAs(one.client, { assetId, reason: 'spam' });
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    expect((await reportAs(two.client, { assetId, reason: 'minor' })).status).toBe(201);
    const [incident] = await incidentsOf(assetId);
    expect(incident).toMatchObject({
      origin: 'report',
      reports: 2,
      status: 'open',
      reasons: ['copyright', 'minor'],
      ageSeconds: expect.any(Number),
      decision: null,
    });
    const { body } = await rig.server.get<ReportPage>(`/v1/incidents/${incident?.id}/reports`);
    expect(body.reports.map(({ reason, note, userId }) => [reason, note, userId])).toEqual([
      ['copyright', 'Mine.', one.userId],
      ['minor', null, two.userId],
    ]);
    const exported = await rig.server.get<{ content: object; reports: unknown[] }>(
      `/v1/incidents/${incident?.id}/export`,
    );
    expect(exported.body.reports).toHaveLength(2);
    expect(exported.body.content).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    for (const path of ['reports', 'export'])
      expect((await rig.user.get(`/v1/incidents/${incident?.id}/${path}`)).status).toBe(403);
  });

  it('by several people at once are all counted', async () => {
    const assetId = await publish();
    const people = await Promise.all(Array.from({ length: 6 }, makeUser));
    const calls = [...people, ...people].map(({ client }) => reportAs(client, { assetId, reason: 'spam' }));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(6);
    expect((await incidentsOf(assetId)).map(({ reports }) => reports)).toEqual([6]);
  });

  it.each([
    ['of an unknown reason', { reason: 'boring' }, 400],
    ['with a long note', { reason: 'spam', note: 'x'.repeat(2001) }, 400],
    ['of an asset that does not exist', { reason: 'spam', assetId: randomUUID() }, 404],
    ['of an asset and a page', { reason: 'spam', shareId: 'x'.repeat(22) }, 400],
    ['with the address of another', { reason: 'spam', address: '192.0.2.1' }, 400],
  ])('are refused %s', async (_case, changes, status) => {
    expect((await reportAs(rig.otherUser, { assetId: await publish(), ...changes })).status).toBe(status);
  });

  it('are 404 for what the caller cannot read', async () => {
    const { registration } = await upload(rig.user, png);
    await rig.user.register(registration);
    expect((await reportAs(rig.otherUser, { assetId: registration.assetId, reason: 'spam' })).status).toBe(404);
    expect((await incidentsOf(registration.assetId)).length).toBe(0);
  });

  it('of a page need no account, and of an asset they do', async () => {
    const assetId = await publish();
    const shareId = await shareOf(assetId);
    expect((await reportAs(anonymous(), { assetId, reason: 'spam' })).status).toBe(401);
    expect((await reportAs(rig.client({ authorization: 'Bearer x' }), { shareId, reason: 'spam' })).status).toBe(401);
    expect((await reportAs(anonymous(), { shareId: 'x'.repeat(22), reason: 'spam' })).status).toBe(404);
    const answer = await reportAs(anonymous(), { shareId, reason: 'intimate' }, from('192.0.2.1'));
    const other = await reportAs(anonymous(), { shareId, reason: 'intimate' }, from('192.0.2.2'));
    expect([answer.status, other.status]).toEqual([201, 201]);
    expect((await incidentsOf(assetId))[0]).toMatchObject({ reports: 2, shareId, origin: 'report' });
    const byServer = { shareId, reason: 'spam', address: '192.0.2.3' };
    expect((await reportAs(rig.server, byServer)).status).toBe(201);
    expect((await reportAs(rig.server, { shareId, reason: 'spam' })).status).toBe(400);
  });

  it('are 20 a day for one address, and for one person', async () => {
    const shareId = await shareOf(await publish());
    const address = from('2001:db8::1');
    const sameNetwork = from('2001:db8::2');
    for (let count = 1; count <= 20; count++) {
      const { status } = await reportAs(anonymous(), { shareId, reason: 'spam' }, count % 2 ? address : sameNetwork);
      expect(status).toBe(count === 1 ? 201 : 200);
    }
    const refused = await reportAs(anonymous(), { shareId, reason: 'spam' }, address);
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    expect((await reportAs(anonymous(), { shareId, reason: 'spam' }, from('2001:db8:1::1'))).status).toBe(201);

    const { client } = await makeUser();
    const assets = await Promise.all(Array.from({ length: 21 }, () => publish()));
    const statuses: number[] = [];
    for (const assetId of assets) statuses.push((await reportAs(client, { assetId, reason: 'spam' })).status);
    expect(statuses).toEqual([...Array(20).fill(201), 429]);
    expect((await reportAs(client, { assetId: assets[0], reason: 'spam' })).status).toBe(200);
  });

  it('of children and intimacy come first in the order of priority', async () => {
    const urgent = await publish();
    await reportAs((await makeUser()).client, { assetId: urgent, reason: 'minor' });
    const later = await publish();
    await reportAs((await makeUser()).client, { assetId: later, reason: 'spam' });
    const walk = async (order: string) => {
      const found: Incident[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = `order=${order}&limit=2${cursor && `&cursor=${cursor}`}`;
        const { body }: { body: IncidentPage } = await rig.server.get<IncidentPage>(`/v1/incidents?${query}`);
        found.push(...body.incidents);
        cursor = body.next_cursor;
      }
      return found;
    };
    const byAge = (await walk('newest')).map(({ assetId }) => assetId);
    expect(byAge.indexOf(later)).toBeLessThan(byAge.indexOf(urgent));
    const byPriority = await walk('priority');
    expect(byPriority).toHaveLength(byAge.length);
    const isUrgent = byPriority.map(({ reasons }) => reasons.includes('minor') || reasons.includes('intimate'));
    expect(isUrgent).toEqual(isUrgent.toSorted((one, other) => Number(other) - Number(one)));
  });

  it('restrict: only the owner reads it, and its pages, copies and old addresses end', patience, async () => {
    const bytes = await makeImage('png', { width: 31, height: 17 });
    const assetId = await publish(rig.user, bytes);
    const shareId = await shareOf(assetId);
    const before = (await rig.otherUser.sign([assetId])).body[assetId] as ImageSignedRefs[string] & { url: string };
    expect((await fetch(before.url)).status).toBe(200);
    await reportAs(rig.otherUser, { assetId, reason: 'privacy' });
    const [incident] = await incidentsOf(assetId);
    const { status, body } = await decide(incident?.id ?? '', { decision: 'restrict', statement: 'A private photo.' });
    expect([status, body.status, body.decision?.statement]).toEqual([200, 'upheld', 'A private photo.']);

    expect(await isReadable(rig.user, assetId)).toBe(true);
    expect(await isReadable(rig.otherUser, assetId)).toBe(false);
    expect((await rig.otherUser.get(`/v1/assets/${assetId}`)).status).toBe(404);
    expect((await rig.user.get<Asset>(`/v1/assets/${assetId}`)).status).toBe(200);
    expect((await rig.server.get(`/v1/shares/${shareId}/data`)).status).toBe(404);
    const gallery = (await rig.server.get<GalleryPage>('/v1/gallery?limit=100')).body.items;
    expect(gallery.map((item) => item.assetId)).not.toContain(assetId);
    expect((await rig.user.post('/v1/shares', { assetId })).body.error).toBe('content_restricted');
    const copy = await rig.user.post<Asset>('/v1/copy', {
      fromAssetId: assetId,
      toScopeKind: 'feed',
      toScopeId: 'posts',
    });
    expect(await isReadable(rig.otherUser, copy.body.assetId)).toBe(false);
    expect(await isReadable(rig.otherUser, await publish(rig.user, bytes))).toBe(false);
    await vi.waitFor(async () => expect((await fetch(before.url)).status).toBe(404), patience);
    const now = (await rig.user.sign([assetId])).body[assetId] as { url: string };
    expect((await fetch(now.url)).status).toBe(200);

    expect((await rig.user.get<SharePage>(`/v1/shares?assetId=${assetId}`)).body.shares).toEqual([]);
    expect((await decide(incident?.id ?? '', { decision: 'dismiss', statement: 'An error.' })).status).toBe(200);
    expect(await isReadable(rig.otherUser, assetId)).toBe(true);
    expect((await rig.server.get(`/v1/shares/${shareId}/data`)).status).toBe(200);
  });

  it('of an album hide its page and images, and a dismissal shows both again', async () => {
    const owner = await makeUser();
    const { registration } = await upload(owner.client, await makeImage('png', { width: 203 }));
    const { assetId } = registration;
    expect((await owner.client.register(registration)).status).toBe(201);
    const album = (await owner.client.post<Collection>('/v1/collections', { title: 'Boats', assetIds: [assetId] }))
      .body;
    const share = (await owner.client.post<Share>('/v1/shares', { collectionId: album.collectionId })).body;
    const ofAsset = (await owner.client.post<Share>('/v1/shares', { assetId })).body;
    const statuses = async () => [
      (await rig.server.get(`/v1/shares/${share.id}/data`)).status,
      (await rig.server.get(`/v1/shares/${ofAsset.id}/data`)).status,
    ];
    const listed = async () =>
      (await owner.client.get<SharePage>('/v1/shares')).body.shares.map(({ id }) => id).toSorted();
    await reportAs((await makeUser()).client, { shareId: share.id, reason: 'violence' });
    const { body } = await rig.server.get<IncidentPage>(`/v1/incidents?ownerId=${owner.userId}`);
    const [incident] = body.incidents;
    expect(incident).toMatchObject({
      title: 'Boats',
      threadId: `album:${album.collectionId}`,
      shareId: share.id,
      isShared: true,
    });
    const id = String(incident?.id);
    const restricted = await decide(id, { decision: 'restrict', statement: 'Violent.' });
    expect(restricted.body).toMatchObject({ title: 'Boats', isShared: false });
    expect([await statuses(), await listed()]).toEqual([[404, 404], []]);
    expect((await owner.client.post('/v1/shares', { collectionId: album.collectionId })).body.error).toBe(
      'content_restricted',
    );
    const dismissed = await decide(id, { decision: 'dismiss', statement: 'It is art.' });
    expect(dismissed.body).toMatchObject({ status: 'cleared', isShared: true });
    expect([await statuses(), await listed()]).toEqual([[200, 200], [share.id, ofAsset.id].toSorted()]);
    // Also after a restriction, a removal takes what the page showed.
    await decide(id, { decision: 'restrict', statement: 'Violent.' });
    expect((await decide(id, { decision: 'remove', statement: 'Violent.' })).body).toMatchObject({ title: 'Boats' });
    expect((await owner.client.get(`/v1/assets/${assetId}`)).status).toBe(404);
    await decide(id, { decision: 'dismiss', statement: 'An error.' });
    expect([await statuses(), await listed()]).toEqual([[404, 404], []]);
    expect((await rig.server.get<Incident>(`/v1/incidents/${id}`)).body.isShared).toBe(false);
  });

  it('about an album do not show an image that an earlier decision hides', async () => {
    const owner = await makeUser();
    const add = async (width: number) => {
      const { registration } = await upload(owner.client, await makeImage('png', { width }));
      await owner.client.register(registration);
      return registration.assetId;
    };
    const assetIds = [await add(211), await add(213)] as const;
    const { body } = await owner.client.post<Collection>('/v1/collections', { title: 'Boats', assetIds });
    const album = (await owner.client.post<Share>('/v1/shares', { collectionId: body.collectionId })).body;
    const alone = (await owner.client.post<Share>('/v1/shares', { assetId: assetIds[0] })).body;
    for (const shareId of [alone.id, album.id]) await reportAs(rig.user, { shareId, reason: 'violence' });
    const { incidents } = (await rig.server.get<IncidentPage>(`/v1/incidents?ownerId=${owner.userId}`)).body;
    const ofAlbum = incidents.find(({ threadId }) => threadId !== null)?.id ?? '';
    const ofImage = incidents.find(({ threadId }) => threadId === null)?.id ?? '';
    for (const id of [ofImage, ofAlbum]) await decide(id, { decision: 'restrict', statement: 'Violent.' });
    await decide(ofAlbum, { decision: 'dismiss', statement: 'It is art.' });
    const statuses = async () =>
      Promise.all(assetIds.map(async (assetId) => (await owner.client.post('/v1/shares', { assetId })).status));
    expect(await statuses()).toEqual([403, 201]);
    expect((await rig.server.get(`/v1/shares/${alone.id}/data`)).status).toBe(404);
    await decide(ofImage, { decision: 'dismiss', statement: 'It is art.' });
    expect(await statuses()).toEqual([200, 200]);
  });

  it('name every place of a picture and its other reports, which a removal does not decide', patience, async () => {
    const [owner, other] = [await makeUser(), await makeUser()];
    const bytes = await makeImage('png', { width: 217, height: 97 });
    const { registration } = await upload(owner.client, bytes, { name: 'boat.png' });
    const { assetId } = registration;
    await owner.client.register(registration);
    const target = { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'posts' };
    const published = (await owner.client.post<Asset>('/v1/copy', target)).body.assetId;
    const album = (await owner.client.post<Collection>('/v1/collections', { title: 'Boats', assetIds: [assetId] }))
      .body;
    const page = (await owner.client.post<Share>('/v1/shares', { collectionId: album.collectionId })).body;
    const alone = (await owner.client.post<Share>('/v1/shares', { assetId })).body;
    const elsewhere = await publish(other.client, bytes);
    await reportAs(rig.user, { shareId: alone.id, reason: 'intimate' });
    await reportAs(rig.user, { assetId: published, reason: 'copyright' });
    const places = async (of: string) => (await rig.server.get<ContentPlaces>(`/v1/assets/${of}/places`)).body;
    const [incident] = await incidentsOf(assetId);
    const [ofCopy] = await incidentsOf(published);
    expect([incident?.openAlike, ofCopy?.openAlike]).toEqual([2, 2]);
    const found = await places(assetId);
    const kinds = found.places.map((one) => [one.assetId, one.ownerId, one.scopeKind === 'feed', one.isCopy]);
    expect(kinds.toSorted()).toEqual(
      [
        [assetId, owner.userId, false, true],
        [published, owner.userId, true, true],
        [elsewhere, other.userId, true, false],
      ].toSorted(),
    );
    const { shareIds } = found.places.find((one) => one.assetId === assetId) ?? {};
    expect(shareIds?.toSorted()).toEqual([page.id, alone.id].toSorted());
    expect(found.incidents.map(({ id }) => id)).toEqual([ofCopy?.id, incident?.id]);
    expect((await places(published)).incidents).toEqual(found.incidents);

    // The picture of the other person has no report yet.
    const open = async () => (await rig.server.post<Incident & Refusal>('/v1/incidents', { assetId: elsewhere })).body;
    const opened = await open();
    expect(opened).toMatchObject({ assetId: elsewhere, status: 'open', reports: 0, reasons: [], openAlike: 3 });
    expect((await open()).id).toBe(opened.id);
    // The audit log names the incident, and of an asset that is not there the asset.
    const log = rig.database.queries<AuditTables>().selectFrom('operator_actions').select(['target', 'outcome']);
    const recordedOf = (target: string) =>
      log.where('target', 'like', `${target}%`).where('action', '=', 'POST /v1/incidents');
    expect(await recordedOf(`incident ${opened.id}`).execute()).toHaveLength(2);
    const unknown = randomUUID();
    await rig.server.post('/v1/incidents', { assetId: unknown });
    expect(await recordedOf(`asset ${unknown}`).execute()).toMatchObject([{ outcome: '404' }]);
    const before = sent.length;
    const removal = { decision: 'remove', statement: 'She did not agree.' };
    await decide(String(incident?.id), removal);
    const left = await incidentsOf(published);
    expect(left).toMatchObject([{ status: 'open', isGone: true, title: 'boat.png', openAlike: 2 }]);
    const after = await places(assetId);
    expect(after.places.map((one) => one.assetId)).toEqual([elsewhere]);
    expect(await isReadable(rig.user, elsewhere)).toBe(true);
    await decide(String(ofCopy?.id), { ...removal, mailOwner: false });
    await decide(opened.id, removal);
    expect(await isReadable(rig.user, elsewhere)).toBe(false);
    const mails = () => sent.slice(before).map(({ body }) => [body.type, body.userId]);
    await vi.waitFor(() => expect(mails()).toHaveLength(4), patience);
    expect(mails().toSorted()).toEqual([
      ...[owner.userId, other.userId].toSorted().map((userId) => ['content.decision', userId]),
      ['report.decision', rig.userId],
      ['report.decision', rig.userId],
    ]);
    expect(await places(randomUUID())).toEqual({ places: [], incidents: [] });
    expect((await rig.server.post<Refusal>('/v1/incidents', { assetId })).body.error).toBe('not_found');
    expect((await rig.user.post('/v1/incidents', { assetId: elsewhere })).status).toBe(403);
    expect((await rig.user.get(`/v1/assets/${elsewhere}/places`)).status).toBe(403);
  });

  it('of content whose owner is erased close, without its name, and mail no owner', patience, async () => {
    const owner = await makeUser();
    const assetId = await publish(owner.client);
    await reportAs(rig.otherUser, { assetId, reason: 'privacy' });
    const [incident] = await incidentsOf(assetId);
    expect((await rig.server.delete(`/v1/people/${owner.userId}`)).status).toBe(200);
    expect((await incidentsOf(assetId))[0]).toMatchObject({
      ...{ status: 'upheld', ownerId: '00000000-0000-0000-0000-000000000000', title: null },
      ...{ isGone: true, decision: null, resolvedAt: expect.any(String), openAlike: 0 },
    });
    const before = sent.length;
    await decide(String(incident?.id), { decision: 'remove', statement: 'A private photo.' });
    await vi.waitFor(() => expect(sent.slice(before)).toHaveLength(1), patience);
    expect(sent.at(-1)?.body.type).toBe('report.decision');
  });

  it('find what a page showed that its owner ended while it was hidden', async () => {
    const owner = await makeUser();
    const { registration } = await upload(owner.client, await makeImage('png', { width: 207 }));
    const { assetId } = registration;
    await owner.client.register(registration);
    const { body } = await owner.client.post<Collection>('/v1/collections', { title: 'Boats', assetIds: [assetId] });
    const { collectionId } = body;
    const share = (await owner.client.post<Share>('/v1/shares', { collectionId })).body;
    await reportAs(rig.user, { shareId: share.id, reason: 'violence' });
    const [incident] = (await rig.server.get<IncidentPage>(`/v1/incidents?ownerId=${owner.userId}`)).body.incidents;
    const id = String(incident?.id);
    await decide(id, { decision: 'restrict', statement: 'Violent.' });
    const { body: shown } = await rig.server.get<ContentPlaces>(`/v1/assets/${assetId}/places`);
    expect(shown.places).toMatchObject([{ assetId, shareIds: [], hiddenPages: 1 }]);
    await owner.client.delete(`/v1/shares/${share.id}`);
    await rig.server.post('/v1/sweep', {});
    await decide(id, { decision: 'dismiss', statement: 'It is art.' });
    expect((await owner.client.post('/v1/shares', { assetId })).status).toBe(201);
    expect((await rig.server.get(`/v1/shares/${share.id}/data`)).status).toBe(404);
    // A page that is made while an operator decides is not shown.
    const db = rig.database.queries<MediaTables>();
    const sharing = await transaction(db, async (tx) => {
      await holdShare(tx, owner.userId, `album:${collectionId}`);
      const request = owner.client.post<Refusal>('/v1/shares', { collectionId });
      // The request waits for this transaction: for its lock, or for the one session of PGlite.
      const waiting = () =>
        sql`select from pg_locks join pg_database on oid = database and datname = current_database() where not granted
          union all select where version() like '%PGlite%'`.execute(tx);
      await expect.poll(async () => (await waiting()).rows.length, { ...patience, interval: 20 }).toBe(1);
      await writeDecision(tx, id, 'restrict', 'Violent.');
      return { request };
    });
    expect((await sharing.request).body.error).toBe('content_restricted');
    const again = await rig.server.get<Incident>(`/v1/incidents/${id}`);
    expect(again.body.isShared).toBe(false);
    expect(again.body.earlier).toMatchObject([
      { decision: 'restrict', statement: 'Violent.' },
      { decision: 'dismiss', statement: 'It is art.' },
    ]);
  });

  it('apply to the other copies of the owner, which cannot be published again', async () => {
    const owner = await makeUser();
    const { registration } = await upload(owner.client, await makeImage('png', { seed: 200, width: 61 }));
    const original = registration.assetId;
    expect((await owner.client.register(registration)).status).toBe(201);
    const to = { toScopeKind: 'feed', toScopeId: 'published' };
    const publishCopy = async () =>
      (await owner.client.post<Asset>('/v1/copy', { fromAssetId: original, ...to })).body.assetId;
    const published = await publishCopy();
    await reportAs(rig.otherUser, { assetId: published, reason: 'privacy' });
    const [incident] = await incidentsOf(published);
    const id = String(incident?.id);
    await decide(id, { decision: 'restrict', statement: 'Private.' });
    expect((await owner.client.post('/v1/shares', { assetId: original })).body).toMatchObject({
      error: 'content_restricted',
    });
    // A decision outlasts the copy that it was about.
    await owner.client.delete('/v1/assets', { ids: [published] });
    const again = await publishCopy();
    expect(await isReadable(owner.client, again)).toBe(true);
    expect(await isReadable(rig.otherUser, again)).toBe(false);
    await decide(id, { decision: 'dismiss', statement: 'An error.' });
    expect(await isReadable(rig.otherUser, again)).toBe(true);
    expect((await owner.client.post('/v1/shares', { assetId: original })).status).toBe(201);
    await decide(id, { decision: 'remove', statement: 'Illegal.' });
    for (const assetId of [original, again]) expect(await isReadable(owner.client, assetId)).toBe(false);
  });

  it('remove: it is gone for everyone', patience, async () => {
    const { assetId, incident } = await reportedAsset();
    const { url } = (await rig.user.sign([assetId])).body[assetId] as { url: string };
    await rig.user.patch(`/v1/assets/${assetId}`, { name: 'A boat at sea' });
    const generation = { taskId: randomUUID(), model: 'nova', references: [] };
    await sql`update assets set generation = ${JSON.stringify(generation)}::jsonb where asset_id = ${assetId}`.execute(
      rig.database.queries(),
    );
    expect((await decide(incident.id, { decision: 'remove', statement: 'Illegal.' })).status).toBe(200);
    expect((await rig.user.get(`/v1/assets/${assetId}`)).status).toBe(404);
    expect((await fetch(url)).status).toBe(404);
    // For an appeal, operators still see what it was, and the run that made it.
    const { body } = await rig.server.get<Incident>(`/v1/incidents/${incident.id}`);
    expect(body).toMatchObject({ status: 'upheld', title: 'A boat at sea', generation });
  });

  it('need a statement, an operator, and an incident of their kind', async () => {
    const { incident } = await reportedAsset();
    expect((await decide(incident.id, { decision: 'dismiss' })).status).toBe(400);
    expect((await decide(incident.id, { decision: 'dismiss', statement: ' ' })).status).toBe(400);
    expect((await decide(randomUUID(), { decision: 'dismiss', statement: 'None.' })).status).toBe(404);
    const asUser = await rig.user.post(`/v1/incidents/${incident.id}/decision`, {
      decision: 'dismiss',
      statement: 'x',
    });
    expect(asUser.status).toBe(403);
    const resolution = await rig.server.post(`/v1/incidents/${incident.id}/resolution`, { resolution: 'cleared' });
    expect([resolution.status, resolution.body.error]).toEqual([409, 'not_decidable']);
  });

  it('mail the owner and each reporter once, also when mail fails at first', patience, async () => {
    const assetId = await publish();
    const one = await makeUser();
    await reportAs(one.client, { assetId, reason: 'spam' });
    const contact = { contact: 'Reader@example.com', locale: 'de' };
    await reportAs((await makeUser()).client, { assetId, reason: 'spam', ...contact });
    await reportAs((await makeUser()).client, { assetId, reason: 'spam', ...contact, contact: 'reader@example.com' });
    const [incident] = await incidentsOf(assetId);
    failures = 2;
    const waiting = expect.objectContaining({ queue: 'media/decision-mail' });
    const request = { decision: 'restrict', statement: `Spam ${randomUUID()}.` };
    await Promise.all([1, 2, 3].map(() => decide(incident?.id ?? '', request)));
    const ours = () => sent.filter(({ body }) => Object(body.data).statement === request.statement);
    await vi.waitFor(() => expect(ours()).toHaveLength(3), patience);
    await vi.waitFor(async () => expect(await rig.jobs.depths()).not.toContainEqual(waiting), patience);
    expect(new Set(ours().map(({ key }) => key)).size).toBe(3);
    const mailed = ours().map(({ body }) => [body.type, body.userId, body.contact]);
    const toAddress = { email: expect.stringMatching(/^reader@/i), locale: 'de' };
    expect(mailed).toContainEqual(['content.decision', rig.userId, undefined]);
    expect(mailed).toContainEqual(['report.decision', one.userId, undefined]);
    expect(mailed).toContainEqual(['report.decision', expect.any(String), toAddress]);
  });

  it('can be appealed by the owner after a decision, and not before', async () => {
    const { assetId, incident } = await reportedAsset();
    const appeal = () =>
      rig.user.post<AppealedIncident & Refusal>(`/v1/incidents/${assetId}/appeal`, { text: 'It is art.' });
    expect((await appeal()).status).toBe(404);
    await decide(incident.id, { decision: 'restrict', statement: 'Not art.' });
    expect((await appeal()).status).toBe(200);
    expect((await appeal()).status).toBe(409);
  });

  it('tell the owner what was decided, and a further decision answers the appeal once', async () => {
    const owner = await makeUser();
    const assetId = await publish(owner.client);
    await reportAs(rig.otherUser, { assetId, reason: 'privacy' });
    const [incident] = await incidentsOf(assetId);
    const id = String(incident?.id);
    const own = async () => (await owner.client.get<OwnDecisions>('/v1/decisions')).body.decisions;
    const isListed = async () =>
      (await rig.server.get<IncidentPage>('/v1/incidents?appealed=open&limit=200')).body.incidents.some(
        (each) => each.id === id,
      );
    const countOpen = async () => (await rig.server.get<IncidentCounts>('/v1/incidents/counts')).body.openAppeals;
    expect(await own()).toEqual([]);
    const request = { decision: 'restrict', statement: 'A private photo.' };
    await decide(id, request);
    expect(await own()).toMatchObject([{ ...request, id, assetId, appealedAt: null, isAppealOpen: false }]);
    const before = await countOpen();
    expect((await owner.client.post(`/v1/incidents/${id}/appeal`, { text: 'It is mine.' })).status).toBe(200);
    expect([await own(), await isListed(), await countOpen()]).toMatchObject([
      [{ appealedAt: expect.any(String), isAppealOpen: true }],
      true,
      before + 1,
    ]);
    const answers = await Promise.all([1, 2].map(() => decide(id, request)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([await own(), await isListed(), await countOpen()]).toMatchObject([
      [{ isAppealOpen: false }],
      false,
      before,
    ]);
    const ours = () => sent.filter(({ body }) => body.userId === owner.userId && body.type === 'content.decision');
    await vi.waitFor(() => expect(ours()).toHaveLength(2), patience);
    expect((await rig.otherUser.get<OwnDecisions>('/v1/decisions')).body.decisions).toEqual([]);
    expect((await rig.server.get('/v1/decisions')).status).toBe(403);
    // The incident has only its newest decision. The audit log has each.
    await decide(id, { decision: 'dismiss', statement: 'An error.' });
    const log = rig.database.queries<AuditTables>().selectFrom('operator_actions').select('action');
    const recorded = await log.where('target', 'like', `incident ${id} sha256 %`).orderBy('action_id').execute();
    const route = 'POST /v1/incidents/:id/decision';
    expect(recorded.map(({ action }) => action)).toEqual([
      ...[1, 2, 3].map(() => `${route} restrict`),
      `${route} dismiss`,
    ]);
  });

  it('show their content to operators, blurred or not', async () => {
    const { incident } = await reportedAsset();
    const show = async (query: string, headers: Record<string, string> = { 'x-internal-key': rig.internalKey }) =>
      fetch(`${rig.url}/v1/incidents/${incident.id}/preview${query}`, { headers });
    const widthOf = async (query: string) => (await sharp(await (await show(query)).arrayBuffer()).metadata()).width;
    expect(await widthOf('')).toBeLessThanOrEqual(24);
    expect(await widthOf('?sharp=true')).toBeGreaterThan(24);
    expect((await show('?sharp=yes')).status).toBe(400);
    expect((await show('?sharp=true', {})).status).toBe(401);
  });

  it('after a dismissal are a new incident, and clear nothing for screening', async () => {
    const { assetId, incident } = await reportedAsset();
    await decide(incident.id, { decision: 'dismiss', statement: 'Harmless.' });
    expect((await reportAs(rig.otherUser, { assetId, reason: 'spam' })).status).toBe(200);
    expect((await reportAs((await makeUser()).client, { assetId, reason: 'spam' })).status).toBe(201);
    expect((await incidentsOf(assetId)).map(({ status }) => status)).toEqual(['open', 'cleared']);
  });

  it('forget an erased reporter, and keep the incident', async () => {
    const assetId = await publish();
    const { userId, client } = await makeUser();
    await reportAs(client, { assetId, reason: 'other', note: 'My name is Ada.', contact: 'ada@example.com' });
    const [incident] = await incidentsOf(assetId);
    expect((await rig.server.delete(`/v1/people/${userId}`)).status).toBe(200);
    const { body } = await rig.server.get<ReportPage>(`/v1/incidents/${incident?.id}/reports`);
    expect(body.reports).toMatchObject([{ reason: 'other', note: null, contact: null, userId: null }]);
  });
});
