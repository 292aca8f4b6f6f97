import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogSync } from './pglite-engine.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-logsync-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('syncs of the log', () => {
  it('cover every request so far, also across files', async () => {
    const log = new LogSync();
    await log.synced();
    for (const name of ['first', 'second']) {
      const file = join(folder, name);
      await writeFile(file, name);
      log.defer(file);
      expect(log.isPending).toBe(true);
    }
    await Promise.all([log.synced(), log.synced()]);
    expect(log.isPending).toBe(false);
    log.close();
  });

  it.skipIf(process.platform !== 'linux')('fail for good after one failure, and can still be closed', async () => {
    const log = new LogSync();
    // Linux refuses to sync a device without storage.
    log.defer('/dev/null');
    await expect(log.synced()).rejects.toThrow('EINVAL');
    await expect(log.synced()).rejects.toThrow('EINVAL');
    expect(() => log.finish()).toThrow('EINVAL');
    log.close();
  });
});
