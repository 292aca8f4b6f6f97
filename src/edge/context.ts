/** What the routes of the service use. */

import type { VariantMaker } from '#image/engine/variants.ts';
import type { Clock } from '#platform/clock.ts';
import type { AddressKey } from '#platform/objects/addresses.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { Presets } from './presets.ts';
import type { Uploads } from './receiving.ts';
import type { Sessions } from './tus/sessions.ts';

export interface EdgeContext {
  readonly publicObjects: Objects;
  readonly clock: Clock;
  /** Signs file URLs (`deriveAddressKey`). */
  readonly addressKey: AddressKey;
  /** Returns `undefined` if no store with this name is served here. */
  readonly bucket: (name: string) => Objects | undefined;
  readonly uploads: Uploads;
  /** Returns imgproxy's signature of a path (`pathSigner`). */
  readonly signPath: (path: string) => string;
  /** Reports whether other systems replace files of this bucket in place. */
  readonly isReplaceable: (bucket: string) => boolean;
  /** The process's only variant maker, which writes to `publicObjects`. */
  readonly variants: Pick<VariantMaker, 'serve'>;
  readonly presets: Presets;
  readonly sessions: Sessions;
}
