/** A process that deletes a video and an image and is killed on the way. */
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { type DeletionKind, type DeletionOf, deletionOutcome, removalDeps } from './deleting.fixture.ts';
import { interrupted } from './interruption.fixture.ts';

interface DeletionOrders extends CrashOrders {
  readonly deed: DeletionKind;
  readonly what: DeletionOf;
}

await obey<DeletionOrders>(import.meta.filename, ({ dataDir, deed, what }, database, interrupt) =>
  deletionOutcome(interrupted(removalDeps(database, dataDir), interrupt), deed, what),
);
