/** What every part of a sweep is given, and gives. */

import type { VariantMaker } from '#image/engine/variants.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { RemovalDeps } from '../removal.ts';
import type { TaskTables } from '../tasks/store.ts';
import type { SweepFinding } from './api.ts';

export interface SweepDeps extends RemovalDeps {
  readonly taskDb: Db<TaskTables>;
  readonly clock: Clock;
  /** Where variants are stored. */
  readonly publicObjects: Objects;
  readonly variants: Pick<VariantMaker, 'forgetAll' | 'names'>;
}

export interface SweepTurn {
  /** `false`: nothing is changed. */
  readonly apply: boolean;
  /** Where the turn before ended. */
  readonly after: string | undefined;
  /**
   * Set where nobody looks on: only what came after that moment is removed, and only under keys that uploads have. A
   * database that was set up anew knows none of the objects that were there before it.
   */
  readonly aloneSince?: Date;
}

/** A bounded piece of a sweep. */
export interface SweepPage {
  readonly found: readonly SweepFinding[];
  /** `undefined`: that was the last one. */
  readonly next: string | undefined;
}

/** Far longer than any upload, registration or copy takes. */
const oldAfterMs = 24 * 3_600_000;

export function oldBefore(clock: Clock): Date {
  return new Date(clock.now() - oldAfterMs);
}
