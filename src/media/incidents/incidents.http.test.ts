/** Incidents, their resolution, and rescreening (docs/specification/media.md#incidents). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { lay } from '../../../test/media/laying.fixture.ts';
import { digestOf, type Lists, openLists } from '../../../test/media/lists.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryPair,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { Asset, ImageSignedRefs } from '../api.ts';
import type { MediaTables } from '../tables.ts';
import type { Incident, IncidentPage } from './api.ts';

const patience = { timeout: 60_000 };

onEveryPair('incidents', (pair) => {
  let rig: MediaRig;
  let lists: Lists;
  beforeAll(async () => {
    lists = await openLists();
    rig = await startMedia(pair, { blockedHashes: lists.folder });
  });
  afterAll(async () => {
    await rig.close();
    await lists.close();
  });
  beforeEach(() => lists.clear());

  const contentOf = (seed: number) => Buffer.from(`prohibited ${seed} ${randomUUID()}`);
  const file = { kind: 'file', mime: 'application/pdf' };
  const prohibit = (...contents: Buffer[]) =>
    lists.write('sha256', contents.map((content) => digestOf('sha256', content)).join('\n'));
  const register = async (content: Buffer, changes: object = file) => {
    const { registration, storageKey } = await upload(rig.user, content, changes);
    return { ...(await rig.user.post<Asset & Refusal>('/v1/assets', registration)), said: registration, storageKey };
  };
  const list = (query = '') => rig.server.get<IncidentPage & Refusal>(`/v1/incidents${query}`);
  const resolve = (id: string, body: unknown, client: Client = rig.server) =>
    client.post<Incident & Refusal>(`/v1/incidents/${id}/resolution`, body);
  const incidentOf = async (content: Buffer): Promise<Incident> => {
    const { body } = await list('?limit=200');
    const found = body.incidents.find(({ sha256 }) => sha256 === digestOf('sha256', content));
    if (found === undefined) throw new Error('there is no incident of this content');
    return found;
  };
  /** Registers a content that is on a list. */
  const blocked = async (content = contentOf(0)) => {
    await prohibit(content);
    const { status, said } = await register(content);
    expect(status).toBe(451);
    return { content, said, incident: await incidentOf(content) };
  };
  const isReadable = async (ref: string, more: object = {}) => {
    const request = { refs: [ref], ...more };
    return (await rig.server.post<ImageSignedRefs>('/v1/sign/image', request)).body[ref]?.ready;
  };

  it('are listed and read with everything that an operator decides by', async () => {
    const { content, said, incident } = await blocked();
    expect(incident).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'open',
      assetId: said.assetId,
      title: null,
      ownerId: rig.userId,
      scopeKind: said.scopeKind,
      scopeId: said.scopeId,
      sha256: digestOf('sha256', content),
      list: 'sha256',
      label: null,
      origin: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      resolvedAt: null,
      note: null,
      evidenceUntil: null,
      threadId: null,
      shareId: null,
      isShared: false,
      isGone: false,
      openAlike: 1,
      generation: null,
      reports: 0,
      reasons: [],
      ageSeconds: expect.any(Number),
      decision: null,
      earlier: [],
    });
    const one = await rig.server.get<Incident>(`/v1/incidents/${incident.id.toUpperCase()}`);
    expect([one.status, one.body]).toEqual([200, incident]);
  });

  it('are listed newest first, page by page, by status', async () => {
    const made: string[] = [];
    for (let number = 0; number < 3; number++) made.unshift((await blocked()).incident.id);
    await resolve(made[1] ?? '', { resolution: 'upheld' });
    const ids: string[] = [];
    let cursor: string | null = '';
    do {
      const { body }: { body: IncidentPage } = await list(`?limit=2${cursor && `&cursor=${cursor}`}`);
      ids.push(...body.incidents.map(({ id }) => id));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(ids.slice(0, 3)).toEqual(made);
    expect(new Set(ids).size).toBe(ids.length);
    const open = (await list('?status=open&limit=200')).body.incidents;
    expect(open.map(({ id }) => id)).not.toContain(made[1]);
    const upheld = (await list('?status=upheld&limit=200')).body.incidents;
    expect(upheld.map(({ id }) => id)).toContain(made[1]);
  });

  it('that are cleared allow their content until they are upheld again', async () => {
    const { content, said, incident } = await blocked();
    const { status, body } = await resolve(incident.id, { resolution: 'cleared', note: 'a false match' });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...incident,
      status: 'cleared',
      note: 'a false match',
      resolvedAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(Date.parse(body.resolvedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(incident.createdAt));
    const again = await register(content);
    expect(again.status).toBe(201);
    const copy = { fromAssetId: again.said.assetId, toScopeKind: 'feed', toScopeId: '1' };
    expect((await rig.user.post('/v1/copy', copy)).status).toBe(201);
    expect((await register(contentOf(1))).status).toBe(201);

    await resolve(incident.id, { resolution: 'upheld' });
    expect((await register(content)).status).toBe(451);
    // The same id again is the same incident.
    expect((await rig.user.register(said)).status).toBe(409);
  });

  it('of the same content are decided by the newest resolution', async () => {
    const { content, incident: first } = await blocked();
    expect((await register(content)).status).toBe(451);
    const others = (await list('?limit=200')).body.incidents.filter(
      ({ id, sha256 }) => sha256 === first.sha256 && id !== first.id,
    );
    expect(others).toHaveLength(1);
    await resolve(first.id, { resolution: 'cleared' });
    expect((await register(content)).status).toBe(201);
    await resolve(others[0]?.id ?? '', { resolution: 'upheld' });
    expect((await register(content)).status).toBe(451);
  });

  it('that are cleared make their legacy path readable again', async () => {
    const content = await makeImage('png', { seed: 4711 });
    const path = `feed/${randomUUID()}/a.png`;
    await lay(rig, [path], content);
    await prohibit(content);
    const { legacyBucket } = rig;
    const copy = { fromAssetId: path, legacyBucket, toOwnerId: randomUUID(), toScopeKind: 'thread', toScopeId: '1' };
    expect((await rig.server.post('/v1/copy', copy)).status).toBe(451);
    expect(await isReadable(path, { legacyBucket })).toBe(false);
    const incident = await incidentOf(content);
    expect(incident.origin).toBe(`${legacyBucket}/${path}`);
    await resolve(incident.id, { resolution: 'cleared' });
    expect(await isReadable(path, { legacyBucket })).toBe(true);
    await resolve(incident.id, { resolution: 'upheld' });
    expect(await isReadable(path, { legacyBucket })).toBe(false);
  });

  it('are counted by list', async () => {
    const countOf = async () => {
      const text = await (await fetch(`${rig.url}/metrics`, { headers: { 'x-internal-key': rig.internalKey } })).text();
      return Number(/^media_incidents_total\{[^}]*list="sha256"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await countOf();
    await blocked();
    expect(await countOf()).toBe(before + 1);
  });

  describe('refuse', () => {
    it.each([
      ['GET', '/v1/incidents'],
      ['GET', `/v1/incidents/${randomUUID()}`],
      ['POST', `/v1/incidents/${randomUUID()}/resolution`],
      ['POST', '/v1/rescreen'],
    ])('%s %s without the internal key', async (method, path) => {
      const call = (client: Client) =>
        method === 'GET' ? client.get(path) : client.post(path, { resolution: 'cleared' });
      expect((await call(rig.user)).status).toBe(403);
      expect((await call(rig.client({}))).status).toBe(401);
    });

    it.each([
      ['an unknown status', '?status=closed', 'querystring.status'],
      ['a limit of 0', '?limit=0', 'querystring.limit'],
      ['a limit over 200', '?limit=201', 'querystring.limit'],
      ['a cursor that no page returned', '?cursor=bm9uZQ', 'querystring.cursor'],
    ])('%s', async (_what, query, path) => {
      const { status, body } = await list(query);
      expect([status, body.issues?.[0]?.path]).toEqual([400, path]);
    });

    it.each([
      ['another resolution', { resolution: 'open' }, 'body.resolution'],
      ['no resolution', { note: 'x' }, 'body.resolution'],
      ['a note that is too long', { resolution: 'upheld', note: 'x'.repeat(2001) }, 'body.note'],
      ['a note with NUL', { resolution: 'upheld', note: 'a\0b' }, 'body.note'],
    ])('%s', async (_what, change, path) => {
      const { incident } = await blocked();
      const { status, body } = await resolve(incident.id, change);
      expect([status, body.issues?.[0]?.path]).toEqual([400, path]);
    });

    it('an id that no incident has', async () => {
      expect((await rig.server.get(`/v1/incidents/${randomUUID()}`)).status).toBe(404);
      expect((await rig.server.get('/v1/incidents/one')).status).toBe(400);
      expect((await resolve(randomUUID(), { resolution: 'upheld' })).status).toBe(404);
    });
  });

  describe('rescreening', () => {
    const rescreen = async () => {
      const { status, body } = await rig.server.post<{ readonly jobId: string }>('/v1/rescreen', {});
      expect(status).toBe(202);
      await vi.waitFor(async () => expect((await rig.jobs.find(body.jobId))?.status).toBe('done'), patience);
      return body.jobId;
    };
    const assets = () => rig.database.queries<MediaTables>();
    const rowOf = (assetId: string) =>
      assets().selectFrom('assets').select('asset_id').where('asset_id', '=', assetId).executeTakeFirst();

    it('blocks content added to a list, with its object, derivatives and cached URLs', patience, async () => {
      const [bad, good] = [await makeImage('png', { seed: 99 }), contentOf(2)];
      const image = await register(bad, {});
      const other = await register(good);
      expect(await isReadable(image.said.assetId)).toBe(true);
      expect((await rig.user.post('/v1/watermark', { ref: image.said.assetId })).status).toBe(200);
      await prohibit(bad);
      await rescreen();
      expect(await isReadable(image.said.assetId)).toBe(false);
      for (const key of [image.storageKey, `${image.storageKey}.wm.jpg`])
        expect(await rig.originals.head(key)).toBeUndefined();
      expect(await rowOf(image.said.assetId)).toBeUndefined();
      expect(await incidentOf(bad)).toMatchObject({ assetId: image.said.assetId, status: 'open', origin: null });
      expect(await isReadable(other.said.assetId)).toBe(true);
    });

    it('allows cleared content', patience, async () => {
      const { content, incident } = await blocked();
      await resolve(incident.id, { resolution: 'cleared' });
      const { said } = await register(content);
      await rescreen();
      expect(await isReadable(said.assetId)).toBe(true);
    });

    it('blocks an imported legacy file, whose bytes stay', patience, async () => {
      const content = contentOf(3);
      const path = `feed/${randomUUID()}/a.pdf`;
      await lay(rig, [path], content);
      const { legacyBucket } = rig;
      const request = { path, legacyBucket, ownerId: rig.userId, scopeKind: 'thread', scopeId: '1' };
      const { body } = await rig.server.post<Asset>('/v1/assets/legacy', request);
      await prohibit(content);
      await rescreen();
      expect(await isReadable(body.assetId)).toBe(false);
      expect(await isReadable(path, { legacyBucket })).toBe(false);
      expect(await rig.legacyFiles.head(path)).toBeDefined();
      expect((await incidentOf(content)).origin).toBe(`${legacyBucket}/${path}`);
    });

    it('completes the blocks of a process that died', patience, async () => {
      const { said, storageKey } = await register(contentOf(4));
      await assets()
        .updateTable('assets')
        .set({ refusal: 'csam_blocked', ready_at: null })
        .where('asset_id', '=', said.assetId)
        .execute();
      await rescreen();
      expect(await rig.originals.head(storageKey)).toBeUndefined();
      expect(await rowOf(said.assetId)).toBeUndefined();
    });

    it('allows nothing while a list cannot be read, and retries the job', patience, async () => {
      const content = contentOf(5);
      const { said } = await register(content);
      await lists.write('sha256', 'no digest');
      const { body } = await rig.server.post<{ readonly jobId: string }>('/v1/rescreen', {});
      await vi.waitFor(async () => {
        const job = await rig.database
          .queries<{ jobs: { job_id: string; attempt: number; status: string } }>()
          .selectFrom('jobs')
          .select(['attempt', 'status'])
          .where('job_id', '=', body.jobId)
          .executeTakeFirstOrThrow();
        expect(job.attempt).toBeGreaterThan(0);
        // Until then, the first attempt may still read the list that is written next.
        expect(job.status).toBe('waiting');
      }, patience);
      await prohibit(content);
      await vi.waitFor(async () => expect((await rig.jobs.find(body.jobId))?.status).toBe('done'), patience);
      expect(await isReadable(said.assetId)).toBe(false);
    });

    it('runs once for repeated requests, with concurrent deletions', patience, async () => {
      const contents = Array.from({ length: 6 }, (_none, number) => contentOf(number));
      const made = await Promise.all(contents.map((content) => register(content)));
      await prohibit(...contents);
      const ids = made.map(({ said }) => said.assetId);
      const requests = Promise.all([1, 2, 3].map(() => rig.server.post<{ jobId: string }>('/v1/rescreen', {})));
      const deletion = rig.user.delete('/v1/assets', { ids: ids.slice(0, 3) });
      const [answers, { status }] = await Promise.all([requests, deletion]);
      expect(status).toBe(200);
      for (const { body } of answers)
        await vi.waitFor(async () => expect((await rig.jobs.find(body.jobId))?.status).toBe('done'), patience);
      await rescreen();
      for (const { said, storageKey } of made) {
        expect(await isReadable(said.assetId)).toBe(false);
        expect(await rig.originals.head(storageKey)).toBeUndefined();
      }
    });
  });
});
