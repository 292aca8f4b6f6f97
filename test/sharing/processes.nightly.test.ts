/** Two processes on PostgreSQL, Redis and S3: what is deleted or decided in one is gone from the pages of both. */

import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { PublicShare } from '#edge/shares/page.ts';
import type { Incident, IncidentPage } from '#media/incidents/api.ts';
import type { GalleryPage, Share } from '#media/shares/api.ts';
import { skipWithoutEngines } from '../acceptance/account.fixture.ts';
import { newPlace, type Place, run } from '../acceptance/running.fixture.ts';
import { createMigratedDatabase } from '../database.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { type Client, createClient, type Refusal, upload } from '../media/rig.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { redisUrl } from '../redis.fixture.ts';

const limitMs = 120_000;
const services = ['media', 'image', 'edge', 'content', 'cms', 'notify'];

interface Here {
  readonly user: Client;
  readonly server: Client;
  readonly edge: string;
  readonly content: string;
}

describe.skipIf(skipWithoutEngines || skipWithoutS3)('two processes', () => {
  let one: Here;
  let two: Here;
  let dataDir: string;
  let db: pg.Client;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const [database, issuer] = [await createMigratedDatabase(migrations), await startTestIssuer()];
    const buckets = [await openTestBucket(), await openTestBucket({ isPublic: true })] as const;
    const places = [await newPlace(), await newPlace()] as const;
    closers.push(() => Promise.all([...places.map((place) => place.remove()), ...buckets.map(({ close }) => close())]));
    closers.push(database.drop, issuer.close);
    db = new pg.Client({ connectionString: database.url });
    await db.connect();
    closers.push(() => db.end());
    dataDir = places[0].dataDir;
    const sub = randomUUID();
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      REDIS_PREFIX: `test:${randomUUID()}`,
      JWKS_URL: issuer.jwksUrl,
      S3_ENDPOINT: testServer.endpoint,
      S3_REGION: testServer.region,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
      S3_BUCKET: buckets[0].bucket,
      S3_PUBLIC_BUCKET: buckets[1].bucket,
      ATELIER_DATA_DIR: dataDir,
      EDGE_URL: `http://localhost:${places[0].portBase + 10}`,
      SITEMAP_GALLERY: 'true',
    };
    const start = async ({ portBase }: Place): Promise<Here> => {
      const program = run('start', services, { ...env, ATELIER_PORT_BASE: String(portBase) });
      closers.push(async () => {
        program.child.kill('SIGKILL');
        await program.ended();
      });
      await program.waitFor('Atelier is ready', limitMs);
      const url = `http://localhost:${portBase + 1}`;
      const { INTERNAL_KEY } = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'));
      return {
        user: createClient(url, { authorization: `Bearer ${await issuer.token({ sub })}` }),
        server: createClient(url, { 'x-internal-key': INTERNAL_KEY }),
        edge: `http://localhost:${portBase + 10}`,
        content: `http://localhost:${portBase + 6}`,
      };
    };
    one = await start(places[0]);
    two = await start(places[1]);
  }, 2 * limitMs);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  async function publish(): Promise<{ readonly assetId: string; readonly share: Share }> {
    const bytes = await makeImage('png', { seed: Math.floor(Math.random() * 256) });
    const { registration } = await upload(one.user, bytes, { scopeKind: 'feed', scopeId: 'published' });
    expect((await one.user.register(registration)).status).toBe(201);
    const { assetId } = registration;
    const { status, body } = await one.user.post<Share>('/v1/shares', { assetId, index: true });
    expect(status).toBe(201);
    return { assetId, share: body };
  }
  const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;
  const galleryOf = async ({ content }: Here) =>
    ((await (await fetch(`${content}/op/gallery`)).json()) as GalleryPage).items;
  const sitemapOf = async ({ content }: Here) => (await fetch(`${content}/sitemap/shares.xml`)).text();
  const page = ({ edge }: Here, { id }: Share, path = '') => `${edge}/s/${id}${path}`;

  it('lose a deleted asset from the page, its data, its pictures, the gallery and the sitemap', async () => {
    const { assetId, share } = await publish();
    const pictures = new Set<string>();
    for (const here of [one, two]) {
      expect(await statusOf(page(here, share))).toBe(200);
      const view = await fetch(page(here, share), { headers: { accept: 'application/json' } });
      const { media } = (await view.json()) as PublicShare;
      const item = (await galleryOf(here)).find((each) => each.assetId === assetId);
      for (const path of ['/0/preview.webp', '/0/card.jpg', '/0/full.webp']) pictures.add(page(here, share, path));
      for (const url of [media?.url, media?.cardUrl, item?.thumbUrl, item?.previewUrl]) pictures.add(String(url));
      await expect.poll(() => sitemapOf(here), { timeout: 60_000 }).toContain(`/s/${share.id}`);
    }
    for (const url of pictures) expect([url, await statusOf(url)]).toEqual([url, 200]);

    expect((await two.user.delete('/v1/assets', { ids: [assetId] })).status).toBe(200);
    const isGone = (url: string, headers = {}) =>
      expect.poll(() => statusOf(url, headers), { timeout: 5000, message: url }).toBe(404);
    await Promise.all([
      ...[one, two].flatMap((here) => [
        isGone(page(here, share)),
        isGone(page(here, share), { accept: 'application/json' }),
      ]),
      ...[...pictures].map((url) => isGone(url)),
    ]);
    for (const here of [one, two]) {
      const shown = async () => (await galleryOf(here)).map((item) => item.assetId);
      await expect.poll(shown, { timeout: 60_000 }).not.toContain(assetId);
      await expect.poll(() => sitemapOf(here), { timeout: 60_000 }).not.toContain(`/s/${share.id}`);
    }
  }, 200_000);

  it('decide at once, and mail each person once for each decision', async () => {
    const { assetId, share } = await publish();
    const contact = `${randomUUID()}@example.com`;
    const report = { shareId: share.id, reason: 'intimate', contact, address: '192.0.2.1' };
    expect((await two.server.post('/v1/reports', report)).status).toBe(201);
    // It reaches operators at once.
    const { body } = await one.server.get<IncidentPage>('/v1/incidents?order=priority&status=open');
    const id = body.incidents.find((incident) => incident.assetId === assetId)?.id;
    const decide = (here: Here, decision: string) =>
      here.server.post<Incident & Refusal>(`/v1/incidents/${id}/decision`, {
        decision,
        statement: `Because of ${decision} ${id}.`,
      });
    const decisions = ['restrict', 'restrict', 'dismiss', 'restrict'];
    const answers = await Promise.all(decisions.map((decision, place) => decide(place % 2 ? one : two, decision)));
    expect(answers.map(({ status }) => status)).toEqual(decisions.map(() => 200));
    const last = await decide(one, 'restrict');
    expect(last.body).toMatchObject({ status: 'upheld', decision: { decision: 'restrict' } });
    for (const here of [one, two]) await expect.poll(() => statusOf(page(here, share)), { timeout: 5000 }).toBe(404);

    // Two decisions, or three if the dismissal came between restrictions.
    const mails = async () => {
      const folder = join(dataDir, 'outbox');
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'));
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      const ours = texts.filter((text) => text.includes(contact)).map((text) => text.replaceAll(/=\r?\n/g, ''));
      return ours.map((text) => /Because of (\w+)/.exec(text)?.[1] ?? '').toSorted();
    };
    const waiting = async () =>
      (await db.query("select from jobs where queue = 'media/decision-mail' and status in ('waiting', 'running')"))
        .rows;
    await expect.poll(waiting, { timeout: 60_000 }).toEqual([]);
    expect([
      ['dismiss', 'restrict'],
      ['dismiss', 'restrict', 'restrict'],
    ]).toContainEqual(await mails());
  }, 120_000);
});
