/** A library of 500 pictures in ten albums, with two devices of its owner that follow each other's changes. */
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { token } from '#commands/token.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { type Atelier, createAtelier, createUpload } from '../../src/client/atelier.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { newLanePlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';

const limitMs = 120_000;
const pictures = 500;
const albums = 10;
type Device = Atelier<{ readonly media: string; readonly agent: string }>;

describe('albums', () => {
  let place: Place;
  let program: Program;
  let phone: Device;
  let laptop: Device;
  const closing = new AbortController();

  beforeAll(async () => {
    place = await newLanePlace();
    program = run('start', ['media', 'image', 'agent', 'memory', 'edge', 'idp'], place.env);
    await program.waitFor('Atelier is ready', limitMs);
    const signIn = async (): Promise<Device> => {
      const { output } = await runInProcess(token, ['ada@example.com'], place.env);
      const accessToken = output.trim().split('\n').at(-1) ?? '';
      expect(decodeJwt(accessToken).sub).toEqual(expect.any(String));
      const at = (port: number) => `http://localhost:${place.portBase + port}`;
      return createAtelier({
        urls: { media: at(1), agent: at(4) },
        credential: { accessToken: async () => accessToken },
      });
    };
    [phone, laptop] = [await signIn(), await signIn()];
  }, limitMs);
  afterAll(async () => {
    closing.abort();
    program.child.kill('SIGTERM');
    await program.ended();
    await place.remove();
  });

  it('keep 500 pictures, which another device sees live and finds by name', { timeout: 5 * limitMs }, async () => {
    let changes = 0;
    const following = (async () => {
      for await (const { type } of laptop.agent.events({ signal: closing.signal }))
        if (type === 'library.changed') changes += 1;
    })().catch(() => undefined);

    const bytes = new Blob([new Uint8Array(await makeImage('png', { width: 32, height: 32 }))], { type: 'image/png' });
    const numbers = Array.from({ length: pictures }, (_, number) => number);
    const ids = await mapConcurrently(numbers, 8, async (number) => {
      const name = `${number % 100 === 7 ? 'Lighthouse' : 'Picture'} ${number}.png`;
      const details = { scopeKind: 'library', scopeId: 'l', kind: 'image', name };
      return (await createUpload(phone.media, bytes, details).run()).assetId;
    });
    const made = await mapConcurrently(numbers.slice(0, albums), 1, (number) =>
      phone.media.createCollection({
        title: `Journey ${number}`,
        assetIds: ids.filter((_id, position) => position % albums === number),
      }),
    );
    expect(made.map(({ count }) => count)).toEqual(Array(albums).fill(pictures / albums));
    const favorites = ids.filter((_, position) => position % 25 === 0);
    expect(await phone.media.changeFavorites({ ids: favorites, favorite: true })).toEqual({ changed: 20 });

    const { collections } = await laptop.media.listCollections();
    expect(collections.map(({ title, count }) => [title, count]).toReversed()).toEqual(
      made.map(({ title }) => [title, pictures / albums]),
    );
    const list = async (query: object) => {
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await laptop.media.listAssets({ ...query, limit: 200, cursor });
        found.push(...page.assets.map(({ assetId }) => assetId));
        if (page.nextCursor === null) return found.toSorted();
        cursor = page.nextCursor;
      }
    };
    const at = (isWanted: (position: number) => boolean) => ids.filter((_, position) => isWanted(position)).toSorted();
    expect(await list({})).toEqual(at(() => true));
    expect(await list({ favorite: 'true' })).toEqual(favorites.toSorted());
    expect(await list({ q: 'lighthouse' })).toEqual(at((position) => position % 100 === 7));
    const [seventh] = (await laptop.media.listCollections({ q: 'journey 7' })).collections;
    const collectionId = String(seventh?.collectionId);
    expect(await list({ collectionId, q: 'LIGHT' })).toEqual(at((position) => position % 100 === 7));
    expect(await list({ collectionId, favorite: 'true' })).toEqual([]);

    // Each change of one device reaches the other one.
    await expect.poll(() => changes).toBeGreaterThan(0);
    const told = async (change: () => Promise<unknown>) => {
      const before = changes;
      await change();
      await expect.poll(() => changes, { timeout: 10_000 }).toBeGreaterThan(before);
    };
    await told(() => phone.media.changeCollection(collectionId, { title: 'Coast', remove: ids.slice(7, 8) }));
    expect(await laptop.media.readCollection(collectionId)).toMatchObject({ title: 'Coast', count: 49 });
    await told(() => phone.media.deleteAssets({ ids: ids.slice(17, 18) }));
    expect((await laptop.media.readCollection(collectionId)).count).toBe(48);
    await told(() => phone.media.changeFavorites({ ids: favorites, favorite: false }));
    expect(await list({ favorite: 'true' })).toEqual([]);
    expect((await laptop.media.listCollections({ assetId: randomUUID() })).collections).toEqual([]);
    closing.abort();
    await following;
  });
});
