import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultBrand } from '#image/engine/brand.ts';
import type { ImageSignedRefs, RegistrationRequest } from '#media/api.ts';
import { findAsset } from '#media/assets/assetstore.ts';
import type { MediaContext } from '#media/context.ts';
import { createQuarantine } from '#media/quarantine/quarantine.ts';
import { signImages } from '#media/signing/signing.ts';
import type { MediaTables } from '#media/tables.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { readMark } from '#platform/metadata/metadata.ts';
import { openTestCache } from '../caches.fixture.ts';
import { type Deaths, onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { makeImage, svg } from './images.fixture.ts';
import {
  depositOf,
  newRequest,
  openFiles,
  outcomeOf,
  registrationDeps,
  testQuarantine,
  uploaded,
} from './registering.fixture.ts';

const program = join(import.meta.dirname, 'registering.child.ts');

onEveryDatabase('a process killed while it registers', (rig) => {
  async function killEverywhere(
    bytes: Uint8Array,
    ending: string,
    { blockedHashes, deposits = false }: { readonly blockedHashes?: string; readonly deposits?: boolean } = {},
  ): Promise<Deaths<RegistrationRequest>> {
    const prepare = async () =>
      deposits ? newRequest({ generated: 'ai' }) : (await uploaded(openFiles(rig.dataDir), bytes)).request;
    const deposit = deposits ? Buffer.from(bytes).toString('base64') : undefined;
    const deaths = await rig.killAtSteps(prepare, (request, killAt) =>
      rig.run(program, { request, killAt, blockedHashes, deposit }),
    );
    expect(new Set(deaths.outcomes)).toEqual(new Set([ending]));
    return deaths;
  }

  /** What is known of an asset, which is checked to be readable only when it is ready, and ready only with its object. */
  async function look(database: Database, { assetId }: RegistrationRequest) {
    const { db, objects } = registrationDeps(database, rig.dataDir);
    const row = await findAsset(db, assetId);
    const head = row && (await objects.head(row.storageKey));
    const signing = {
      db,
      objects: { ...openFiles(rig.dataDir), readAddress: (key: string) => key },
      legacy: { bucket: () => undefined },
      resizeAddress: () => '',
      brand: defaultBrand,
      publicScopes: [],
      signedUrls: openTestCache(database),
      addressing: '',
    } as unknown as MediaContext;
    const refs: ImageSignedRefs = JSON.parse(
      String(await signImages(signing, { kind: 'internal' }, { refs: [assetId], legacyBucket: 'agent_message' })),
    );
    expect(refs[assetId]?.ready).toBe(Boolean(row?.readyAt));
    if (row?.readyAt) expect(head?.etag).toBe(row.etag);
    return { row, head };
  }

  it('leaves nothing readable without its object, and a retry succeeds', { timeout: 300_000 }, async () => {
    const { killed: good } = await killEverywhere(await makeImage('png'), 'created');
    const { killed: bad } = await killEverywhere(svg, 'unsupported_image');

    const database = await rig.openDatabase();
    try {
      const deps = registrationDeps(database, rig.dataDir);
      for (const request of good) {
        await look(database, request);
        expect(await outcomeOf(deps, request)).toBe('created');
        expect((await look(database, request)).row?.readyAt).toBeInstanceOf(Date);
      }
      for (const request of bad) {
        await look(database, request);
        expect(['unsupported_image', 'object_not_found']).toContain(await outcomeOf(deps, request));
        expect(await look(database, request)).toEqual({ row: undefined, head: undefined });
      }
    } finally {
      await database.close();
    }
  });

  it('leaves nothing readable of a deposit without its marked file, and a retry succeeds', {
    timeout: 300_000,
  }, async () => {
    const image = await makeImage('png');
    const { killed } = await killEverywhere(image, 'created', { deposits: true });
    const database = await rig.openDatabase();
    try {
      const deps = registrationDeps(database, rig.dataDir);
      for (const request of killed) {
        await look(database, request);
        expect(['created', 'replayed']).toContain(await outcomeOf(deps, request, depositOf(deps, request, image)));
        const { row } = await look(database, request);
        expect(row?.readyAt).toBeInstanceOf(Date);
        const file = await readFile(join(rig.dataDir, 'objects', row?.storageKey ?? ''));
        expect([readMark(file), createHash('sha256').update(file).digest('hex')]).toEqual(['ai', row?.sha256]);
      }
    } finally {
      await database.close();
    }
  });

  it.each([false, true])(
    'leaves only the record of a prohibited image, deposited: %s',
    { timeout: 400_000 },
    async (deposits) => {
      const prohibited = await makeImage('jpeg', { seed: deposits ? 78 : 77 });
      const blockedHashes = join(rig.dataDir, `lists-${deposits}`);
      await mkdir(blockedHashes);
      await writeFile(join(blockedHashes, 'md5.txt'), createHash('md5').update(prohibited).digest('hex'));
      const { killed, lived } = await killEverywhere(prohibited, 'csam_blocked', { blockedHashes, deposits });

      const database = await rig.openDatabase();
      const deps = registrationDeps(database, rig.dataDir, { blockedHashes });
      try {
        for (const request of killed) {
          expect((await look(database, request)).row?.readyAt ?? null).toBeNull();
          const outcome = await outcomeOf(deps, request, deposits ? depositOf(deps, request, prohibited) : undefined);
          expect(['csam_blocked', 'object_not_found']).toContain(outcome);
          expect(await look(database, request)).toEqual({ row: undefined, head: undefined });
        }
        const recorded = await database
          .queries<MediaTables>()
          .selectFrom('screening_incidents')
          .select(['incident_id as id', 'asset_id as assetId'])
          .where('md5', '=', createHash('md5').update(prohibited).digest('hex'))
          .execute();
        // Each once.
        const ids = recorded.map(({ assetId }) => assetId ?? '').sort();
        expect(ids).toEqual([...killed, ...lived].map(({ assetId }) => assetId).sort());
        const stores = { db: database.queries<MediaTables>(), objects: openFiles(rig.dataDir) };
        const quarantine = createQuarantine({ ...stores, clock: systemClock } as MediaContext, testQuarantine);
        for (const { id } of recorded) {
          const chunks: Buffer[] = [];
          for await (const chunk of await quarantine.open(id)) chunks.push(chunk);
          expect(Buffer.concat(chunks).equals(prohibited)).toBe(true);
        }
        const copies: string[] = [];
        for await (const { key } of stores.objects.list('quarantine/'))
          if (ids.some((id) => id !== null && key.includes(id))) copies.push(key);
        expect(copies).toHaveLength(recorded.length);
      } finally {
        await deps.screening.close();
        await database.close();
      }
    },
  );
});
