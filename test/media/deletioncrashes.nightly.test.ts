import { join } from 'node:path';
import { expect, it } from 'vitest';
import { onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { type DeletionKind, deletionOutcome, plantVideo, removalDeps, rowsOfAll } from './deleting.fixture.ts';
import { remaining } from './planting.fixture.ts';
import { openFiles } from './registering.fixture.ts';

const program = join(import.meta.dirname, 'deleting.child.ts');

onEveryDatabase('a process killed while it deletes', (rig) => {
  it.each<DeletionKind>(['assets', 'scope'])(
    'of %s: rows of what is left stay, and a repeat goes through',
    { timeout: 180_000 },
    async (deed) => {
      const originals = openFiles(rig.dataDir);
      const prepare = async () => {
        const database = await rig.openDatabase();
        const planted = await plantVideo({ database, originals });
        await database.close();
        return planted;
      };
      const { killed, outcomes } = await rig.killAtSteps(prepare, (what, killAt) =>
        rig.run(program, { deed, what, killAt }),
      );
      expect(new Set(outcomes)).toEqual(new Set([deed === 'assets' ? '2' : '3']));

      const database = await rig.openDatabase();
      try {
        const ground = { database, originals };
        for (const what of killed) {
          await rowsOfAll(ground, what.all);
          const named = String((await remaining(ground, deed === 'assets' ? what.named : what.all)).rows);
          expect(await deletionOutcome(removalDeps(database, rig.dataDir), deed, what)).toBe(named);
          expect(await remaining(ground, what.all)).toEqual({ rows: 0, objects: 0 });
        }
      } finally {
        await database.close();
      }
    },
  );
});
