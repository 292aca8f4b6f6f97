/** Registering an uploaded photograph, against what cannot be left out: reading it, its digests and looks, one insert. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from '../node_modules/sharp/dist/index.mjs';
import { migrations } from '../src/app/migrations.ts';
import type { Engine } from '../src/image/engine/engine.ts';
import { createPermits } from '../src/image/engine/permits.ts';
import { preview, thumbnail, toTransform } from '../src/image/engine/specs.ts';
import { createEngine } from '../src/image/engine/working.ts';
import { draftAsset } from '../src/media/assets/assetstore.ts';
import { storageKeyOf } from '../src/media/assets/storagekey.ts';
import type { MediaContext } from '../src/media/context.ts';
import { unknownFacts } from '../src/media/registration/inspection.ts';
import { registerAsset } from '../src/media/registration/registration.ts';
import { createScreening } from '../src/media/screening/screening.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { withMark } from '../src/platform/metadata/metadata.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { atMost, type Bench, type Row } from './bench.ts';
import { makePhoto } from './image.ts';
import { compareCpu } from './rounds.ts';

const rounds = 9;
const ownerId = randomUUID();

export const registration: Bench = {
  run: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-registration-'));
    // PostgreSQL where it runs: PGlite would do the queries within the process that is measured.
    const engine = databaseEngines.findLast(({ missing }) => !missing) ?? databaseEngines[0];
    if (engine === undefined) throw new Error('there is no database');
    const database = await engine.open(migrations);
    const screening = createScreening({ blockedHashes: undefined, screeningUrl: undefined });
    try {
      const deps = depsOf(folder, database.queries<MediaTables>(), screening);
      return [await compare(deps), ...(await compareMarked(deps)), await compareVariants(deps.engine as Engine)];
    } finally {
      await Promise.all([screening.close(), database.close()]);
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function depsOf(folder: string, db: MediaContext['db'], screening: ReturnType<typeof createScreening>) {
  const open = (bucket: string) =>
    openFilesystem({ bucket, root: join(folder, bucket), stagingFolder: join(folder, 'incoming'), clock });
  return {
    db,
    objects: open('objects'),
    screening,
    engine: createEngine({ maxSourcePixels: 5e7, processTimeoutMs: 60_000, concurrency: 2, permitWaitMs: 5000 }),
    images: createPermits({ count: 8, waitMs: 5000 }),
    limits: { maxImageBytes: 1e8, maxVideoBytes: 1e8, stripMetadata: 'public' },
    publicScopes: ['feed'],
  } as unknown as MediaContext;
}

/** An upload that has a mark, and one that gets its mark: its file is written again, after its own digests were screened. */
async function compareMarked(deps: MediaContext): Promise<readonly Row[]> {
  const { jpeg } = await makePhoto();
  const marked = withMark(jpeg, 'ai');
  const scope = { ownerId, scopeKind: 'thread', scopeId: 'bench', mime: 'image/jpeg', kind: 'image' };
  let assetId = randomUUID();
  const upload = (bytes: Uint8Array) => async () => {
    assetId = randomUUID();
    await deps.objects.put(storageKeyOf({ ...scope, assetId }), bytes, { contentType: scope.mime });
  };
  const register = (more: object) => () =>
    registerAsset(deps, { kind: 'internal' }, { ...scope, ...more, assetId } as never);
  const cpu = await compareCpu(rounds, {
    marked: { prepare: upload(marked), work: register({}) },
    marking: { prepare: upload(jpeg), work: register({ generated: 'ai' }) },
    plain: { prepare: upload(jpeg), work: register({}) },
  });
  const against = 'registration without a mark';
  return [
    atMost(1.05, {
      goal: 'registration of that JPEG with a mark, by processor time',
      measured: cpu.ratio('marked', 'plain'),
      against,
    }),
    atMost(1.15, {
      goal: 'registration that writes the mark, by processor time',
      measured: cpu.ratio('marking', 'plain'),
      against,
    }),
  ];
}

async function compareVariants(engine: Engine): Promise<Row> {
  const { jpeg } = await makePhoto();
  const marked = withMark(jpeg, 'ai');
  const jobs = [thumbnail, preview].map((spec) => ({ transform: toTransform(spec), deliver: () => undefined }));
  const cpu = await compareCpu(rounds, {
    ours: { work: () => engine.transform(marked, jobs) },
    byHand: { work: () => engine.transform(jpeg, jobs) },
  });
  return atMost(1.05, {
    goal: 'thumbnail and preview of that JPEG with a mark, by processor time',
    measured: cpu.ratio('ours', 'byHand'),
    against: 'the same without a mark',
  });
}

async function compare(deps: MediaContext): Promise<Row> {
  const { objects } = deps;
  const { jpeg } = await makePhoto();
  const scope = { ownerId, scopeKind: 'thread', scopeId: 'bench', mime: 'image/jpeg' };
  let identity = { ...scope, assetId: randomUUID(), kind: 'image', requestedMime: scope.mime };
  const upload = async () => {
    identity = { ...identity, assetId: randomUUID() };
    await objects.put(storageKeyOf(identity), jpeg, { contentType: scope.mime });
  };
  const cpu = await compareCpu(rounds, {
    ours: { prepare: upload, work: () => registerAsset(deps, { kind: 'internal' }, identity as never) },
    byHand: { prepare: upload, work: () => registerByHand(deps, identity) },
  });
  return atMost(1.25, {
    goal: 'registration of a 12 megapixel JPEG, by processor time',
    measured: cpu.ratio('ours', 'byHand'),
    against: 'reading, digests, metadata, PDQ and a 32 px thumb with bare sharp, one insert',
  });
}

export async function registerByHand(
  { db, objects, screening }: MediaContext,
  identity: Parameters<typeof draftAsset>[1],
): Promise<void> {
  const storageKey = storageKeyOf({ ...identity, mime: identity.requestedMime });
  const found = await objects.get(storageKey);
  if (found === undefined) throw new Error('the upload is gone');
  const bytes = Buffer.concat((await found.stream.toArray()) as Buffer[]);
  const [sha256 = '', md5 = ''] = ['sha256', 'md5'].map((name) => createHash(name).update(bytes).digest('hex'));
  const { width, height } = await sharp(bytes).metadata();
  const raw = (side: number) =>
    sharp(bytes)
      .autoOrient()
      .resize(side, side, { fit: 'inside' })
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
  const { data, info } = await raw(512);
  const { hex, quality } = await screening.hash({ data, ...info } as never);
  await raw(32);
  const facts = { ...unknownFacts(identity.requestedMime), width, height, sha256, md5, pdq: hex, pdqQuality: quality };
  const place = { bucket: objects.bucket, storageKey, etag: found.etag, byteSize: bytes.length };
  await draftAsset(db, identity, place, facts);
}
