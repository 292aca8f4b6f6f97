/** An image from `POST /images` to its readable asset, against what cannot be left out once the provider has answered. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Generation } from '../src/agent/generation/api.ts';
import { openImageProvider } from '../src/agent/providers/openaimedia.ts';
import { migrations } from '../src/app/migrations.ts';
import { storageKeyOf } from '../src/media/assets/storagekey.ts';
import type { MediaContext } from '../src/media/context.ts';
import { createScreening } from '../src/media/screening/screening.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { withMark } from '../src/platform/metadata/metadata.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';
import { startAgent } from '../test/agent/rig.fixture.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { makePhoto } from './image.ts';
import { registerByHand } from './registration.ts';

const rounds = 25;
const warmUpRounds = 3;
const megapixels = { width: 2048, height: 1536 };
const sizes = { maxImageBytes: 1e8, maxVideoBytes: 1e8, maxSourcePixels: 5e7 };

export const generation: Bench = { run: async () => [await compare()] };

async function compare(): Promise<Row> {
  const { jpeg } = await makePhoto(megapixels.width, megapixels.height);
  const answer = JSON.stringify({ data: [{ b64_json: jpeg.toString('base64') }] });
  const provider = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const imageGenerator = openImageProvider({ url, apiKey: 'k', name: 'painter' });
  // PostgreSQL where it runs: PGlite would do the queries within the process that is measured.
  const engine = databaseEngines.findLast(({ missing }) => !missing) ?? databaseEngines[0];
  if (engine === undefined) throw new Error('there is no database');
  const pair = { ...embedded, openDatabase: () => engine.open(migrations) };
  const rig = await startAgent(pair, { imageGenerator }, { sizes });
  const folder = await mkdtemp(join(tmpdir(), 'bench-generation-'));
  const screening = createScreening({ blockedHashes: undefined, screeningUrl: undefined });
  try {
    const user = await rig.user('max', 1_000_000);
    const objects = openFilesystem({ bucket: 'objects', root: join(folder, 'objects'), stagingFolder: folder, clock });
    const db = rig.media.database.queries<MediaTables>();
    const ours = async () => {
      const body = { prompt: 'a lighthouse', ratio: '4:3' };
      const made = await user.call<Generation>('POST', '/images', body, { prefer: 'wait=60' });
      if (made.body.items[0]?.status !== 'completed') throw new Error(`the order is ${made.body.status}`);
    };
    const byHand = async () => {
      const place = { ownerId: user.userId, scopeKind: 'generation', scopeId: randomUUID() };
      const identity = { assetId: randomUUID(), ...place };
      const registered = { ...identity, kind: 'image', requestedMime: 'image/jpeg' };
      const response = await fetch(`${url}/images/generations`, { method: 'POST', body: '{}' });
      const { data } = (await response.json()) as { data: [{ b64_json: string }] };
      const bytes = Buffer.from(data[0].b64_json, 'base64');
      // Lists name the digests of what the provider sent, and the row has those of the file with its mark.
      for (const name of ['sha256', 'md5']) createHash(name).update(bytes).digest('hex');
      const marked = withMark(bytes, 'ai');
      await objects.put(storageKeyOf({ ...identity, mime: 'image/jpeg' }), marked, { contentType: 'image/jpeg' });
      await registerByHand({ db, objects, screening } as MediaContext, registered);
    };
    const ratios: number[] = [];
    for (let round = -warmUpRounds; round < rounds; round++) {
      const [one, other] =
        round % 2 === 0 ? [await timed(ours), await timed(byHand)] : [await timed(byHand), await timed(ours)];
      if (round >= 0) ratios.push(round % 2 === 0 ? one / other : other / one);
    }
    return atMost(1.3, {
      goal: `POST /images to the readable asset of ${megapixels.width} × ${megapixels.height}, by time`,
      measured: median(ratios),
      against: 'fetch, mark, write, read, digests of both, metadata, PDQ and a 32 px thumb with bare sharp, one insert',
    });
  } finally {
    await rig.close();
    await screening.close();
    provider.closeAllConnections();
    provider.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}
