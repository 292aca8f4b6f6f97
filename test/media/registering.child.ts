/** A process that registers one uploaded image, or deposits one, and is killed on the way. */
import { registrationRequest } from '#media/api.ts';
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';
import { outcomeOf, registrationDeps } from './registering.fixture.ts';

interface RegistrationOrders extends CrashOrders {
  readonly request: unknown;
  /** The bytes to deposit, in base64. */
  readonly deposit?: string | undefined;
  /** Of prohibited images. */
  readonly blockedHashes?: string | undefined;
}

await obey<RegistrationOrders>(
  import.meta.filename,
  ({ dataDir, request, deposit, blockedHashes }, database, interrupt) =>
    outcomeOf(
      interrupted(registrationDeps(database, dataDir, { blockedHashes }), interrupt),
      registrationRequest.parse(request),
      deposit === undefined ? undefined : Buffer.from(deposit, 'base64'),
    ),
);
