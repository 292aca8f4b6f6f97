/** A process that registers one uploaded image and is killed on the way. */
import { registrationRequest } from '#media/api.ts';
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';
import { outcomeOf, registrationDeps } from './registering.fixture.ts';

interface RegistrationOrders extends CrashOrders {
  readonly request: unknown;
  /** Of prohibited images. */
  readonly blockedHashes?: string | undefined;
}

await obey<RegistrationOrders>(import.meta.filename, ({ dataDir, request, blockedHashes }, database, interrupt) =>
  outcomeOf(
    interrupted(registrationDeps(database, dataDir, { blockedHashes }), interrupt),
    registrationRequest.parse(request),
  ),
);
