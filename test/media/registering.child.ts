/** A process that registers one uploaded image, or deposits one, and is killed on the way. */
import { registrationRequest } from '#media/api.ts';
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';
import { depositOf, outcomeOf, registrationDeps } from './registering.fixture.ts';

interface RegistrationOrders extends CrashOrders {
  readonly request: unknown;
  /** The bytes to deposit, in base64. */
  readonly deposit?: string | undefined;
  /** Of prohibited images. */
  readonly blockedHashes?: string | undefined;
}

await obey<RegistrationOrders>(
  import.meta.filename,
  ({ dataDir, request, deposit, blockedHashes }, database, interrupt) => {
    const deps = interrupted(registrationDeps(database, dataDir, { blockedHashes }), interrupt);
    const parsed = registrationRequest.parse(request);
    return outcomeOf(
      deps,
      parsed,
      deposit === undefined ? undefined : depositOf(deps, parsed, Buffer.from(deposit, 'base64')),
    );
  },
);
