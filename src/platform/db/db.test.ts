import { describe } from 'vitest';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { describeDatabase } from '../../../test/platform/db/db.conformance.ts';

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`database on ${engine.name}`, () => describeDatabase(engine.open));
}
