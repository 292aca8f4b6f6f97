import { join } from 'node:path';
import { expect, it } from 'vitest';
import { onEveryDatabase } from '../crashes/crashes.fixture.ts';
import { copyDeps, copyOutcome, holdingsOf, plantSource, type SourceKind } from './copying.fixture.ts';
import { sweepAll, sweepDeps } from './sweeping.fixture.ts';

const program = join(import.meta.dirname, 'copying.child.ts');
const hourMs = 3_600_000;

onEveryDatabase('a process killed while it copies', (rig) => {
  it.each<SourceKind>(['asset', 'legacy path'])(
    'of an %s: nothing readable is left, a repeat goes through, and what is left is removed a day later',
    { timeout: 600_000 },
    async (kind) => {
      const prepare = async () => {
        const database = await rig.openDatabase();
        const deps = copyDeps(database, rig.dataDir);
        try {
          return await plantSource(deps, kind);
        } finally {
          await deps.screening.close();
          await database.close();
        }
      };
      const { killed, lived, outcomes } = await rig.killAtSteps(prepare, (what, killAt) =>
        rig.run(program, { what, killAt }),
      );
      expect(new Set(outcomes)).toEqual(new Set(['copied']));

      const database = await rig.openDatabase();
      const deps = copyDeps(database, rig.dataDir);
      try {
        const own = kind === 'asset' ? 1 : 0;
        const removeAt = async (ageMs: number) => {
          const found = await sweepAll(sweepDeps(database, rig.dataDir, ageMs));
          return found.filter(({ fate }) => fate === 'removed').length;
        };
        let left = 0;
        for (const what of [...killed, ...lived]) {
          const holdings = await holdingsOf(database, rig.dataDir, what.ownerId);
          expect(holdings.ready).toBe(lived.includes(what) ? own + 1 : own);
          left += holdings.unready;
          expect(await copyOutcome(deps, what)).toBe('copied');
        }
        expect(await removeAt(23 * hourMs)).toBe(0);
        expect(await removeAt(25 * hourMs)).toBe(left);
        for (const what of [...killed, ...lived]) {
          const copies = lived.includes(what) ? 2 : 1;
          const whole = { ready: own + copies, unready: 0, objects: own + copies };
          expect(await holdingsOf(database, rig.dataDir, what.ownerId)).toEqual(whole);
        }
      } finally {
        await deps.screening.close();
        await database.close();
      }
    },
  );
});
