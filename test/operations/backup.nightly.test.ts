/** `npm run backup` and `npm run restore` of a complete installation: killed, repeated, and with bad input. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backup } from '#commands/backup.ts';
import { restore } from '#commands/restore.ts';
import { lockFiles, lockFolder } from '#platform/db/lock.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { faultOf, inProcess } from '../acceptance/inprocess.fixture.ts';
import { newPlace, type Place } from '../acceptance/running.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { programEnv, programPath } from '../programs.fixture.ts';
import { limitMs, snapshotOf, type Traces, use, whileRunning } from './installation.fixture.ts';

const log = createLog({ level: 'silent' });
let place: Place;
let folder: string;
let traces: Traces;
/** A data folder that can be copied quickly. */
let small: string;
let before: Awaited<ReturnType<typeof snapshotOf>>;
const within = (name: string) => join(folder, name);
const openAt = (dataDir: string) => openDatabase({ url: 'embedded', dataDir, migrations: [], log });

beforeAll(async () => {
  place = await newPlace();
  folder = await mkdtemp(join(tmpdir(), 'atelier-backup-'));
  small = within('small');
  await (await openAt(small)).close();
  await writeFile(join(small, 'secrets.json'), '{}');
  [traces, before] = await whileRunning(place, {}, async () => {
    const found = await use(place);
    return [found, await snapshotOf(place, found)] as const;
  });
}, 2 * limitMs);
afterAll(async () => {
  await place.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Kills the command when `watched` contains this many files. */
async function killed(command: string, target: string, env: Record<string, string>, watched: string, files: number) {
  const child = spawn(process.execPath, [programPath, command, target], {
    env: { ...programEnv, ...env },
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  while (child.exitCode === null && !(await hasFiles(watched, files))) await sleep(2);
  child.kill('SIGKILL');
  return ended;
}

const hasFiles = (path: string, files: number) =>
  readdir(path, { recursive: true }).then(
    (found) => found.length > files,
    () => false,
  );

describe('npm run backup and npm run restore', { timeout: 4 * limitMs }, () => {
  it('a killed backup is invalid, and the next one is complete; after a restore, all responses are the same', async () => {
    const target = within('whole');
    expect(await killed('backup', target, place.env, `${target}.unfinished`, 40)).toBe('SIGKILL');
    expect([existsSync(target), existsSync(`${target}.unfinished`)]).toEqual([false, true]);
    expect(await inProcess(backup, [target], place.env)).toBe(0);
    expect(existsSync(`${target}.unfinished`)).toBe(false);
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    expect((await stat(join(target, 'secrets.json'))).mode & 0o777).toBe(0o600);

    // The restored instance has another folder but the same URLs.
    const dataDir = within('restored');
    const other = { ...place, dataDir, env: { ...place.env, ATELIER_DATA_DIR: dataDir } };
    expect(await killed('restore', target, other.env, dataDir, 60)).toBe('SIGKILL');
    await expect(openAt(dataDir)).rejects.toThrow('partly restored');
    expect(await inProcess(restore, [target], other.env)).toBe(0);
    expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).toBe(
      await readFile(join(place.dataDir, 'secrets.json'), 'utf8'),
    );
    expect(before.images.length).toBeGreaterThanOrEqual(5);
    expect(before.images.flat()).not.toContainEqual(expect.objectContaining({ status: 404 }));
    expect(await whileRunning(other, {}, () => snapshotOf(other, traces))).toEqual(before);
  });

  it('reports an obstacle in one line, and creates nothing', async () => {
    const target = within('none');
    const lock = await lockFolder(place.dataDir);
    try {
      expect(await faultOf(backup, [target], place.env)).toMatch(/ATELIER_DATA_DIR .* is in use by process \d+/);
    } finally {
      lock.release();
    }
    expect(await faultOf(backup, [], place.env)).toContain('Usage');
    expect(await faultOf(backup, [target, 'more'], place.env)).toContain('Usage');
    expect(await faultOf(backup, ['--all'], place.env)).toContain('Usage');
    expect(await faultOf(backup, [folder], place.env)).toContain('already exists');
    expect(await faultOf(backup, [join(place.dataDir, 'backup')], place.env)).toContain('is inside the data folder');
    expect(await faultOf(backup, [target], { ATELIER_DATA_DIR: within('nowhere') })).toContain('nothing to copy');
    expect(await faultOf(backup, [target], { ...place.env, DATABASE_URL: 'postgres://x@localhost/x' })).toContain(
      'DATABASE_URL',
    );
    await writeFile(within('file'), '');
    expect(await faultOf(backup, [join(within('file'), 'none')], place.env)).toMatch(/^StartFault: ENOTDIR/);
    expect(existsSync(target)).toBe(false);
    expect(await readdir(folder)).not.toContain('none.unfinished');
  });

  it.each<[string, (copy: string) => Promise<unknown>, string]>([
    [
      'a truncated file',
      (copy) => writeFile(join(copy, 'secrets.json'), '{'),
      'secrets.json differs from the file that was backed up',
    ],
    ['a missing file', (copy) => rm(join(copy, 'secrets.json')), 'secrets.json is missing'],
    [
      'an extra line in the manifest',
      (copy) => appendFile(join(copy, 'manifest.jsonl'), '{}\n'),
      'manifest.jsonl is damaged',
    ],
    ['a path that leads out of the folder', (copy) => leadOut(copy), 'manifest.jsonl is damaged'],
    ['no manifest', (copy) => rename(join(copy, 'manifest.jsonl'), join(copy, 'other')), 'is not a backup'],
  ])('%s: is rejected, and the folder stays empty', async (_, spoil, fault) => {
    const copy = `${await mkdtemp(within('spoilt-'))}/backup`;
    await inProcess(backup, [copy], { ATELIER_DATA_DIR: small });
    await spoil(copy);
    const dataDir = `${copy}-data`;
    expect(await faultOf(restore, [copy], { ATELIER_DATA_DIR: dataDir })).toMatch(
      new RegExp(`^StartFault: .*${fault}`),
    );
    expect(existsSync(dataDir) ? (await readdir(dataDir)).filter((name) => !lockFiles.includes(name)) : []).toEqual([]);
  });

  it('does not change a folder that is not empty', async () => {
    const dataDir = await mkdtemp(within('full-'));
    await writeFile(join(dataDir, 'note.txt'), 'mine');
    expect(await faultOf(restore, [within('whole')], { ATELIER_DATA_DIR: dataDir })).toContain('not empty (note.txt)');
    expect(await readFile(join(dataDir, 'note.txt'), 'utf8')).toBe('mine');
    const lock = await lockFolder(dataDir);
    try {
      expect(await faultOf(restore, [within('whole')], { ATELIER_DATA_DIR: dataDir })).toContain('is in use');
    } finally {
      lock.release();
    }
    expect(await faultOf(restore, [], { ATELIER_DATA_DIR: dataDir })).toContain('Usage');
    const other = { ATELIER_DATA_DIR: dataDir, DATABASE_URL: 'postgres://x@localhost/x' };
    expect(await faultOf(restore, [within('whole')], other)).toContain('DATABASE_URL');
  });

  it('has the rows as text, and a start on data of another PostgreSQL says what to run', async () => {
    const target = within('whole');
    expect(existsSync(join(target, 'database'))).toBe(false);
    expect((await readdir(join(target, 'rows'))).length).toBeGreaterThan(30);
    const dataDir = within('other-major');
    await mkdir(join(dataDir, 'database'), { recursive: true });
    await writeFile(join(dataDir, 'database/PG_VERSION'), '17\n');
    await expect(openAt(dataDir)).rejects.toThrow(
      'has data of PostgreSQL 17, and this version has PostgreSQL 18; run `npm run backup` with the version of Atelier that wrote it, and `npm run restore` with this version',
    );
  });

  it.runIf(isNightly)('rejects the backup of a newer version', async () => {
    const database = await openAt(place.dataDir);
    await sql`insert into migrations (name, digest) values ('media/999_later', '')`.execute(database.queries());
    await database.close();
    await inProcess(backup, [within('newer')], place.env);
    const dataDir = within('older-data');
    expect(await faultOf(restore, [within('newer')], { ATELIER_DATA_DIR: dataDir })).toContain('media/999_later');
    expect((await readdir(dataDir)).filter((name) => !lockFiles.includes(name))).toEqual([]);
  });
});

/** Includes a matching digest. */
async function leadOut(copy: string): Promise<void> {
  const { writeManifest } = await import('#commands/backup/copying.ts');
  const file = { path: '../outside', size: 0, sha256: '', modifiedAtMs: 0 };
  await writeManifest(copy, { createdAt: '', files: [file], emptyFolders: [], bytes: 0 });
}
