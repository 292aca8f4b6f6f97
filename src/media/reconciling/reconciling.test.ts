import { createHash, randomUUID } from 'node:crypto';
import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { createMemoryCache } from '#platform/cache/memory.ts';
import { readFolder, writeFolder } from '#platform/datafolder/identity.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { folderCopies } from '../../../test/media/foldercopies.fixture.ts';
import { openFiles, openLegacyFiles } from '../../../test/media/registering.fixture.ts';
import { draftAsset, findReadyAssets, markReady } from '../assets/assetstore.ts';
import type { MediaStores } from '../context.ts';
import type { MediaTables } from '../tables.ts';
import { createReconciler, type Reconciler } from './reconciling.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly storageKey?: string;
  readonly [name: string]: unknown;
}

const contentType = 'application/octet-stream';
const withDigest = true;
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

// Folders are copied with the embedded database in them: at night PostgreSQL has its turn too.
const engines = databaseEngines.filter(({ name }) => isNightly || name === 'pglite');

for (const engine of engines)
  describe.skipIf(engine.missing)(`reconciling a data folder on ${engine.name}`, () => {
    let database: Database;
    let folder: string;
    let dataDir: string;
    let lines: Line[];
    const open: Reconciler[] = [];

    beforeAll(async () => {
      database = await engine.open(migrations);
    });
    afterAll(() => database.close());
    beforeEach(async () => {
      await database.queries<MediaTables>().deleteFrom('data_folder').execute();
      await database.queries<MediaTables>().deleteFrom('assets').execute();
      folder = await mkdtemp(join(tmpdir(), 'atelier-reconciling-'));
      dataDir = join(folder, 'data');
      await mkdir(dataDir);
      lines = [];
    });
    afterEach(async () => {
      await Promise.all(open.splice(0).map((reconciler) => reconciler.end()));
      await rm(folder, { recursive: true, force: true });
    });

    const placesOf = (dir: string) => ({ objects: openFiles(dir), legacy: openLegacyFiles(dir) });

    function reconcilerOf(dir: string): Reconciler {
      const stores = {
        ...placesOf(dir),
        db: database.queries<MediaTables>(),
        signedUrls: createMemoryCache({ maxBytes: 1000 }),
        log: createLog({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
      } as Partial<MediaStores> as MediaStores;
      const reconciler = createReconciler(stores, { dataDir: dir, backends: ['objects', 'legacy'] });
      open.push(reconciler);
      return reconciler;
    }

    /** As a start does. */
    async function begin(dir: string): Promise<Reconciler> {
      const reconciler = reconcilerOf(dir);
      await reconciler.begin();
      return reconciler;
    }

    async function end(reconciler: Reconciler): Promise<void> {
      open.splice(open.indexOf(reconciler), 1);
      await reconciler.end();
    }

    const stateOf = async (dir: string) => (await readFolder(dir))?.state;
    const isReconciled = (dir: string) => expect.poll(() => stateOf(dir), patience).toMatchObject({ reconciled: true });
    const hasEnded = () =>
      expect.poll(() => lines.map(({ msg }) => msg).join(), patience).toContain('compared the data');
    const patience = { timeout: 30_000, interval: 20 };

    /** A registered asset over a file of the folder; its id. */
    async function plant(
      bytes: Buffer,
      { hasDigest = withDigest, backend = 'objects' }: { hasDigest?: boolean; backend?: 'objects' | 'legacy' } = {},
    ): Promise<string> {
      const assetId = randomUUID();
      const identity = { assetId, ownerId: randomUUID(), scopeKind: 'thread', scopeId: 't', kind: 'file' };
      const storageKey = `u/${assetId}`;
      const { objects, legacy } = placesOf(dataDir);
      const files = backend === 'objects' ? objects : legacy.bucket('agent_message');
      if (files === undefined) throw new Error('the legacy backend is off');
      const { etag } = await files.put(storageKey, bytes, { contentType });
      const place = { backend, bucket: files.bucket, storageKey, etag, byteSize: bytes.length };
      const none = { md5: null, pdq: null, pdqQuality: null, width: null, height: null, durationMs: null };
      const facts = {
        ...none,
        mime: contentType,
        blurhash: null,
        animated: null,
        thumbAssetId: null,
        prompt: null,
        model: null,
        generated: null,
        name: null,
      };
      const db = database.queries<MediaTables>();
      const sha256 = hasDigest ? sha256Of(bytes) : null;
      await draftAsset(db, { ...identity, requestedMime: contentType }, place, { ...facts, sha256 });
      await markReady(db, assetId, etag);
      return assetId;
    }

    const rowsOf = (assetIds: readonly string[]) => findReadyAssets(database.queries<MediaTables>(), assetIds);

    /** The rows as a request gets them. */
    async function currentOf(reconciler: Reconciler, assetIds: readonly string[]) {
      const reading = reconciler.startReading();
      return reading.current(await rowsOf(assetIds));
    }

    /** The bytes behind rows as they are, by id; `undefined` where none have the row's ETag. */
    async function readRows(dir: string, rows: readonly Awaited<ReturnType<typeof rowsOf>>[number][]) {
      const { objects, legacy } = placesOf(dir);
      const read = rows.map(async ({ assetId, backend, bucket, storageKey, etag }) => {
        const files = backend === 'objects' ? objects : legacy.bucket(bucket);
        const body = await files?.get(storageKey, { ifMatch: etag }).catch(() => undefined);
        return [assetId, body && (await buffer(body.stream)).toString()] as const;
      });
      return Object.fromEntries(await Promise.all(read));
    }

    const copyOf = async (name = 'cp -r') => {
      const to = join(folder, `copy-${randomUUID()}`);
      await folderCopies.find((way) => way.name === name)?.copy(dataDir, to);
      return to;
    };

    it.each(folderCopies)('$name: rows are followed before they are read, and in the background', async ({ name }) => {
      const contents = Array.from({ length: 30 }, (_, index) => `content ${index}`);
      const ids: string[] = [];
      for (const [index, text] of contents.entries())
        ids.push(await plant(Buffer.from(text), { backend: index % 3 === 0 ? 'legacy' : 'objects' }));
      const wanted = Object.fromEntries(ids.map((assetId, index) => [assetId, contents[index]]));
      await end(await begin(dataDir));
      const copy = await copyOf(name);
      expect(Object.values(await readRows(copy, await rowsOf(ids))).filter(Boolean)).toEqual([]);

      const reconciler = await begin(copy);
      expect(await readRows(copy, await currentOf(reconciler, ids))).toEqual(wanted);
      await hasEnded();
      await isReconciled(copy);
      expect(await readRows(copy, await rowsOf(ids))).toEqual(wanted);
      expect(lines.map(({ level, msg }) => [level, msg.slice(0, 27)])).toEqual([
        ['warn', 'the data folder is not that'],
        ['info', 'compared the data folder wi'],
      ]);
      await end(reconciler);

      lines = [];
      await begin(copy);
      expect(await stateOf(copy)).toMatchObject({ reconciled: true });
      expect(lines).toEqual([]);
    });

    it('the first start with this version on a folder that was not copied reads no file', async () => {
      const id = await plant(Buffer.from('a'));
      const reconciler = await begin(dataDir);
      await isReconciled(dataDir);
      expect(await readRows(dataDir, await currentOf(reconciler, [id]))).toEqual({ [id]: 'a' });
      expect(lines).toEqual([]);
    });

    it('does not compare a renamed folder', async () => {
      const id = await plant(Buffer.from('a'));
      const first = await begin(dataDir);
      await isReconciled(dataDir);
      await end(first);
      const other = join(folder, 'other');
      await rename(dataDir, other);
      const reconciler = await begin(other);
      // If it had read the file, the row would be missing.
      await rm(join(other, 'objects/u', id));
      expect(await currentOf(reconciler, [id])).toHaveLength(1);
      expect(lines).toEqual([]);
    });

    it('compares the size if there is no digest, logs it, and stores the digest', async () => {
      const id = await plant(Buffer.from('a film'), { hasDigest: false });
      await end(await begin(dataDir));
      const copy = await copyOf();
      await begin(copy);
      await hasEnded();
      expect(await readRows(copy, await rowsOf([id]))).toEqual({ [id]: 'a film' });
      expect(lines.at(-1)).toMatchObject({ level: 'info', moved: 1, assumed: 1 });
      const row = await database.queries<MediaTables>().selectFrom('assets').select('sha256').executeTakeFirst();
      expect(row?.sha256).toBe(sha256Of(Buffer.from('a film')));
    });

    it('missing and different files are named in the log and not served, until the right ones are back', async () => {
      const [whole, gone, other, longer, linked] = [
        await plant(Buffer.from('whole')),
        await plant(Buffer.from('gone')),
        await plant(Buffer.from('other')),
        await plant(Buffer.from('longer'), { hasDigest: false }),
        await plant(Buffer.from('linked')),
      ];
      const ids = [whole, gone, other, longer, linked];
      await end(await begin(dataDir));
      const copy = await copyOf();
      const fileOf = (id: string) => join(copy, 'objects/u', id);
      await rm(fileOf(gone));
      await writeFile(fileOf(other), 'OTHER');
      await writeFile(fileOf(longer), 'longer than it was');
      await rename(fileOf(linked), join(folder, 'outside'));
      await symlink(join(folder, 'outside'), fileOf(linked));

      const first = await begin(copy);
      expect(await readRows(copy, await currentOf(first, ids))).toEqual({ [whole]: 'whole' });
      await hasEnded();
      expect(await stateOf(copy)).toMatchObject({ reconciled: false, missing: 2, different: 2 });
      const named = lines.filter(({ storageKey }) => storageKey !== undefined);
      expect(named.map(({ level, storageKey }) => [level, storageKey]).sort()).toEqual(
        [
          ['error', `u/${other}`],
          ['error', `u/${longer}`],
          ['warn', `u/${gone}`],
          ['warn', `u/${linked}`],
        ].sort(),
      );
      expect(lines.at(-1)).toMatchObject({ level: 'warn', compared: 5, moved: 1, missing: 2, different: 2 });
      expect(await readRows(copy, await currentOf(first, ids))).toEqual({ [whole]: 'whole' });

      // A running service serves the right files as soon as they are back; the next start notes that all are there.
      for (const id of [gone, other]) await copyFile(join(dataDir, 'objects/u', id), fileOf(id));
      const three = { [whole]: 'whole', [gone]: 'gone', [other]: 'other' };
      expect(await readRows(copy, await currentOf(first, ids))).toEqual(three);
      await end(first);
      await rm(fileOf(linked));
      for (const id of [longer, linked]) await copyFile(join(dataDir, 'objects/u', id), fileOf(id));
      const second = await begin(copy);
      expect(Object.keys(await readRows(copy, await currentOf(second, ids)))).toHaveLength(5);
      await isReconciled(copy);
    });

    it('continues an interrupted comparison at the next start, on the same folder or a copy of it', async () => {
      const ids = [await plant(Buffer.from('one')), await plant(Buffer.from('two'))];
      const wanted = { [ids[0] as string]: 'one', [ids[1] as string]: 'two' };
      await end(await begin(dataDir));
      const copy = await copyOf();
      // Ended before it has compared anything.
      const cut = reconcilerOf(copy);
      const ending = end(cut);
      await cut.begin();
      await ending;
      expect(await stateOf(copy)).toMatchObject({ reconciled: false });
      const next = await begin(copy);
      expect(await readRows(copy, await currentOf(next, ids))).toEqual(wanted);
      await isReconciled(copy);
      expect(await readRows(copy, await rowsOf(ids))).toEqual(wanted);
    });

    it('a snapshot that is restored over the folder is another folder', async () => {
      const id = await plant(Buffer.from('kept'));
      const running = await begin(dataDir);
      await isReconciled(dataDir);
      const snapshot = await copyOf('cp -a');
      const noted = await database.queries<MediaTables>().selectFrom('data_folder').selectAll().executeTakeFirst();
      await end(running);
      await rm(join(dataDir, 'objects/u'), { recursive: true });
      // In place, with the database of the snapshot.
      await cp(snapshot, dataDir, { recursive: true, preserveTimestamps: true });
      await database
        .queries<MediaTables>()
        .updateTable('data_folder')
        .set({ identity: noted?.identity ?? '' })
        .execute();
      const reconciler = await begin(dataDir);
      expect(await readRows(dataDir, await currentOf(reconciler, [id]))).toEqual({ [id]: 'kept' });
      await isReconciled(dataDir);
    });

    it('rows of an older database follow files that were copied since', async () => {
      const id = await plant(Buffer.from('kept'));
      await end(await begin(dataDir));
      const [before] = await rowsOf([id]);
      const copy = await copyOf();
      await begin(copy);
      await isReconciled(copy);
      await database
        .queries<MediaTables>()
        .updateTable('assets')
        .set({ etag: String(before?.etag) })
        .execute();
      await database.queries<MediaTables>().updateTable('data_folder').set({ identity: 'of before' }).execute();
      const reconciler = await begin(copy);
      expect(await readRows(copy, await currentOf(reconciler, [id]))).toEqual({ [id]: 'kept' });
    });

    it('two processes at once on a copy', async () => {
      const contents = Array.from({ length: 40 }, (_, index) => `content ${index}`);
      const ids = await Promise.all(contents.map((text) => plant(Buffer.from(text))));
      await end(await begin(dataDir));
      const copy = await copyOf();
      const both = await Promise.all([begin(copy), begin(copy)]);
      const seen = await Promise.all(both.map(async (one) => readRows(copy, await currentOf(one, ids))));
      const wanted = Object.fromEntries(ids.map((assetId, index) => [assetId, contents[index]]));
      expect(seen).toEqual([wanted, wanted]);
      await isReconciled(copy);
      expect(await readRows(copy, await rowsOf(ids))).toEqual(wanted);
    });

    it('a folder whose state cannot be written is compared at every start, and served', async () => {
      const id = await plant(Buffer.from('a'));
      await end(await begin(dataDir));
      const copy = await copyOf();
      await rm(join(copy, 'folder.json'));
      await mkdir(join(copy, 'folder.json'));
      const reconciler = await begin(copy);
      expect(await readRows(copy, await currentOf(reconciler, [id]))).toEqual({ [id]: 'a' });
      await hasEnded();
      expect(lines.map(({ msg }) => msg)).toContain('the state of the data folder cannot be written');
    });

    it('treats a state file truncated by a power cut as unknown', async () => {
      await plant(Buffer.from('a'));
      await end(await begin(dataDir));
      await writeFile(join(dataDir, 'folder.json'), (await readFile(join(dataDir, 'folder.json'))).subarray(0, 20));
      await begin(dataDir);
      await isReconciled(dataDir);
    });

    it('does not touch a row that is deleted or changed during the comparison', async () => {
      const [dropped, changed] = [await plant(Buffer.from('a')), await plant(Buffer.from('b'))];
      await end(await begin(dataDir));
      const copy = await copyOf();
      const rows = await rowsOf([dropped, changed]);
      const db = database.queries<MediaTables>();
      await db.deleteFrom('assets').where('asset_id', '=', dropped).execute();
      await db.updateTable('assets').set({ etag: '"new"' }).where('asset_id', '=', changed).execute();
      await (await begin(copy)).startReading().current(rows);
      expect(await rowsOf([dropped])).toEqual([]);
    });

    it('the identity ends with the next state of the folder', async () => {
      const state = { reconciled: true, missing: 0, different: 0, unreadable: 0 };
      await writeFolder(dataDir, state);
      const first = await readFolder(dataDir);
      expect(await readFolder(dataDir)).toEqual(first);
      expect(first).toMatchObject({ state, isCopy: false });
      const copy = await copyOf('cp -a');
      expect(await readFolder(copy)).toMatchObject({ state, isCopy: true });
      expect((await readFolder(copy))?.identity).not.toBe(first?.identity);
      await writeFolder(dataDir, state);
      expect((await readFolder(dataDir))?.identity).not.toBe(first?.identity);
    });
  });
