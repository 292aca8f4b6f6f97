import { describe } from 'vitest';
import { databaseEngines } from '../../../test/database.ts';
import { describeDatabase } from './conformance.ts';

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`database on ${engine.name}`, () => describeDatabase(engine.open));
}
