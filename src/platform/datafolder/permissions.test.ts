import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { tightenFolder } from './permissions.ts';

let folder: string;
let lines: { readonly level: string; readonly msg: string }[];
const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
const at = (...names: readonly string[]) => join(folder, ...names);
const modeOf = async (...names: readonly string[]) => ((await stat(at(...names))).mode & 0o7777).toString(8);

beforeEach(async () => {
  lines = [];
  folder = await mkdtemp(join(tmpdir(), 'atelier-permissions-'));
  await mkdir(at('data/objects/u'), { recursive: true });
  await mkdir(at('data/legacy/agent_message'), { recursive: true });
  for (const name of ['data/objects/u/a', 'data/legacy/agent_message/b.sh', 'data/secrets.json', 'outside'])
    await writeFile(at(name), 'x');
  await chmod(at('data'), 0o755);
  await chmod(at('data/objects/u/a'), 0o666);
  await chmod(at('data/legacy/agent_message/b.sh'), 0o755);
  await chmod(at('outside'), 0o644);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('permissions of the data folder', () => {
  it('closes the folder and its contents; owners keep their permissions', async () => {
    await tightenFolder(at('data'), log);
    expect(await modeOf('data')).toBe('700');
    expect(await modeOf('data/objects/u')).toBe('700');
    expect(await modeOf('data/objects/u/a')).toBe('600');
    expect(await modeOf('data/legacy/agent_message/b.sh')).toBe('700');
    expect(lines).toMatchObject([{ level: 'info', msg: expect.stringContaining('removed the permissions') }]);
    lines = [];
    await tightenFolder(at('data'), log);
    expect(lines).toEqual([]);
  });

  it('finds files with open permissions below a closed folder', async () => {
    await chmod(at('data'), 0o700);
    await tightenFolder(at('data'), log);
    expect(await modeOf('data/objects/u/a')).toBe('600');
  });

  it('finishes a folder that is partly private already', async () => {
    for (const name of ['one', 'two', 'three']) await writeFile(at('data/objects', name), 'x', { mode: 0o644 });
    await chmod(at('data'), 0o700);
    await chmod(at('data/objects/one'), 0o600);
    await tightenFolder(at('data'), log);
    for (const name of await readdir(at('data/objects'))) expect(await modeOf('data/objects', name)).toMatch(/00$/);
  });

  it('follows the folder itself if it is a symbolic link, but no links below it', async () => {
    await symlink(at('data'), at('link'));
    await symlink(at('outside'), at('data/objects/outside'));
    await tightenFolder(at('link'), log);
    expect(await modeOf('data')).toBe('700');
    expect(await modeOf('data/objects/u/a')).toBe('600');
    expect(await modeOf('outside')).toBe('644');
  });

  it('does not change a folder that accounts share on purpose, and logs a warning', async () => {
    await chmod(at('data'), 0o1777);
    await tightenFolder(at('data'), log);
    expect(await modeOf('data')).toBe('1777');
    expect(await modeOf('data/objects/u/a')).toBe('666');
    expect(lines).toMatchObject([{ level: 'warn' }]);
  });

  it('ignores a missing folder', async () => {
    await tightenFolder(at('nowhere'), log);
    expect(lines).toEqual([]);
  });
});
