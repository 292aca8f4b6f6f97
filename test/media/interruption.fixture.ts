/** Interrupts an operation at any of its steps, for tests: before and after each call of an engine. */

import type { MediaTables } from '#media/tables.ts';
import { assertOutsideTransaction, type Db } from '#platform/db/db.ts';
import type { LegacyObjects, ObjectBody } from '#platform/objects/objects.ts';

export type Interrupt = (moment: { readonly number: number; readonly call: string }) => void | Promise<void>;

interface Interruptible {
  readonly db: Db<MediaTables>;
  readonly objects: object;
  readonly legacy?: Pick<LegacyObjects, 'bucket'>;
  readonly engine?: object;
  readonly variants?: object;
  readonly publicObjects?: object;
  readonly ffmpeg?: object;
  readonly screening?: object;
}

type Moment = (call: string) => void | Promise<void>;

/** The same deps; `interrupt` is called at each moment, numbered from 1, and may throw, kill the process or work. */
export function interrupted<Deps extends Interruptible>(deps: Deps, interrupt: Interrupt): Deps {
  let number = 0;
  const at = (call: string) => {
    number += 1;
    return interrupt({ number, call });
  };
  const bucketAt = (name: string) => {
    const files = deps.legacy?.bucket(name);
    return files && watched(files, at);
  };
  return {
    ...deps,
    objects: watched(deps.objects, at),
    ...(deps.legacy && { legacy: { bucket: bucketAt } }),
    ...(deps.engine && { engine: watched(deps.engine, at) }),
    ...(deps.publicObjects && { publicObjects: watched(deps.publicObjects, at) }),
    ...(deps.variants && { variants: watched(deps.variants, at) }),
    ...(deps.ffmpeg && { ffmpeg: watched(deps.ffmpeg, at) }),
    ...(deps.screening && { screening: watched(deps.screening, at) }),
    // A plugin's `transformQuery` cannot wait; an interruption of the database throws or kills.
    db: deps.db.withPlugin({
      transformQuery: ({ node }) => {
        void at('before query');
        return node;
      },
      transformResult: async ({ result }) => {
        await at(isOutside() ? 'after query' : 'in a transaction');
        return result;
      },
    }),
  };
}

/** In a transaction, no other work is possible on the embedded database. */
function isOutside(): boolean {
  try {
    assertOutsideTransaction('an interruption');
    return true;
  } catch {
    return false;
  }
}

function watched<Target extends object>(target: Target, at: Moment): Target {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      if (name === 'list') return (...args: unknown[]) => watchedListing(value.apply(object, args), at);
      return async (...args: unknown[]) => {
        await at(`before ${String(name)}`);
        const result: unknown = await value.apply(object, args);
        try {
          await at(`after ${String(name)}`);
        } catch (error) {
          // No other code has a reference to the open file.
          (result as Partial<ObjectBody> | undefined)?.stream?.destroy();
          throw error;
        }
        return result;
      };
    },
  });
}

async function* watchedListing(listing: AsyncIterable<unknown>, at: Moment) {
  await at('before list');
  yield* listing;
  await at('after list');
}
