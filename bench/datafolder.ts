/**
 * A start on a copy of a data folder with 10,000 objects, until all rows have been compared with their files, against
 * reading these files; and the start after it, against a start on the folder that was copied.
 */
import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '../src/migrations.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createLog } from '../src/platform/log.ts';
import { pattern } from '../src/platform/objects/objects.testing.ts';
import { inTurns } from '../src/platform/turns.ts';
import { newPlace, type Place, run as runProgram } from '../test/acceptance/running.ts';
import { plant } from '../test/media/planting.ts';
import { openFiles } from '../test/media/registrations.ts';
import { atMost, type Bench, median } from './bench.ts';

const rounds = 5;
const objects = 10_000;
const objectBytes = 64 * 1024;
const rowsAtOnce = 1000;
const readsAtOnce = 4;
const limitMs = 600_000;

export const dataFolder: Bench = {
  name: 'data folder',
  run: async () => {
    const place = await newPlace();
    const copy = `${place.dataDir}-copy`;
    const first: number[] = [];
    const second: number[] = [];
    try {
      await start(place, place.dataDir, 'Atelier is ready');
      await fill(place.dataDir);
      await start(place, place.dataDir, 'Atelier is ready');
      for (let round = 0; round < rounds; round++) {
        // All that was written is read once before anything is measured.
        await cp(place.dataDir, copy, { recursive: true });
        await readAll(copy);
        const warmMs = await start(place, place.dataDir, 'Atelier is ready');
        const comparedMs = await start(place, copy, 'compared the data folder with its rows');
        const readMs = await readAll(copy);
        first.push((comparedMs - warmMs) / readMs);
        second.push((await start(place, copy, 'Atelier is ready')) / warmMs);
        await rm(copy, { recursive: true });
      }
    } finally {
      await place.remove();
      await rm(copy, { recursive: true, force: true });
    }
    return [
      atMost(2, {
        goal: 'start on a copied folder of 10,000 objects until all are compared, beyond a warm start, by time',
        measured: median(first),
        against: `reading their bytes, ${readsAtOnce} at a time`,
      }),
      atMost(1.15, {
        goal: 'the next start on the copy, by time',
        measured: median(second),
        against: 'a start on the folder that was copied',
      }),
    ];
  },
};

/** Media and edge, until `text` is said; in milliseconds. */
async function start({ env }: Place, dataDir: string, text: string): Promise<number> {
  const startedAt = performance.now();
  const program = runProgram('start', ['media', 'edge'], { ...env, ATELIER_DATA_DIR: dataDir });
  try {
    await program.said(text, limitMs);
    return performance.now() - startedAt;
  } finally {
    program.child.kill('SIGTERM');
    await program.ended(limitMs);
  }
}

async function fill(dataDir: string): Promise<void> {
  const log = createLog({ level: 'silent' });
  const database = await openDatabase({ url: 'embedded', dataDir, migrations, log });
  const bytes = pattern(objectBytes, 1);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const ground = { database, originals: openFiles(dataDir) };
  for (let done = 0; done < objects; done += rowsAtOnce) await plant(ground, rowsAtOnce, { bytes, sha256 });
  await database.close();
}

async function readAll(dataDir: string): Promise<number> {
  const root = join(dataDir, 'objects');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const startedAt = performance.now();
  await inTurns(files, readsAtOnce, (file) => readFile(file));
  return performance.now() - startedAt;
}
