/**
 * Makes variants and keeps them as public objects (document 000, `POST /v1/ensure`; CONTRACT §5). Used by the image
 * service and by the edge. Keeps no record: a variant's key is computed, and the object store is asked.
 */
import { gather } from '#platform/objects/gathering.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { Engine, EngineLimits, Transform } from './engine.ts';
import { createVariantNames, type VariantNames } from './keys.ts';
import { createPermits } from './permits.ts';
import { free, type NamedSource, SourceFault, type VariantSource } from './sources.ts';

export interface Variant {
  /** In the public bucket. */
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Larger than its transform's `maxBytes`: nothing smaller can be made of it. */
  readonly overBudget: boolean;
}

export interface VariantMaker {
  /**
   * The variants asked for, in order, each beside what it was asked with. Those that exist cost one existence check
   * each; what is missing is made from one reading of the source. Throws SourceFault, StoreFault, PictureFault,
   * EngineBusy, EngineTimeout.
   */
  ensure<Asked extends { readonly transform: Transform }>(
    source: VariantSource,
    asked: readonly Asked[],
  ): Promise<readonly (Asked & Variant)[]>;
  /**
   * Removes every variant of a source; answers how many. To be called after the source is removed: a variant still being
   * made is then removed by its maker. Throws StoreFault.
   */
  forget(source: NamedSource): Promise<number>;
  /** The same for many sources: those of one group are looked for together, all are removed together. */
  forgetAll(sources: readonly NamedSource[]): Promise<number>;
  /** For sweeps, which tell by its name whose a variant was. */
  readonly names: Pick<VariantNames, 'prefix' | 'mark'>;
}

export interface VariantMakerDeps {
  readonly engine: Engine;
  /** SVC_IMAGE_KEY_SECRET. */
  readonly keySecret: string;
  readonly publicObjects: Objects;
  readonly limits: Pick<EngineLimits, 'concurrency' | 'permitWaitMs'>;
}

/** The public bucket could not be read or written. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
}

/** A variant that a request of this process is looking for or making; it resolves to the size. */
interface Flight {
  readonly key: string;
  readonly transform: Transform;
  readonly promise: Promise<number>;
  readonly resolve: (size: number) => void;
  readonly reject: (reason: unknown) => void;
}

interface Made {
  readonly flight: Flight;
  readonly output: Uint8Array;
}

const contentTypes = { webp: 'image/webp', jpeg: 'image/jpeg', png: 'image/png' } as const;
/** Sources held in memory, read or being read, for each picture that is worked on: a slow one does not idle a processor. */
const sourcesPerPermit = 4;
const cacheControl = 'public, max-age=31536000, immutable';

export function createVariantMaker(deps: VariantMakerDeps): VariantMaker {
  const { engine, publicObjects } = deps;
  const names = createVariantNames(deps.keySecret);
  const places = createPermits({
    count: deps.limits.concurrency * sourcesPerPermit,
    waitMs: deps.limits.permitWaitMs,
  });
  /** By key. An entry begins before the existence check, so that identical requests write once. */
  const inFlight = new Map<string, Flight>();

  function takeOff(key: string, transform: Transform, started: Flight[]): Flight {
    const flight = { key, transform, ...Promise.withResolvers<number>() };
    inFlight.set(key, flight);
    started.push(flight);
    return flight;
  }

  function land(flight: Flight, size: number): void {
    leave(flight);
    flight.resolve(size);
  }

  function fail(flight: Flight, reason: unknown): void {
    leave(flight);
    flight.reject(reason);
  }

  /** A failure can come after the landing, when the key may belong to a later flight. */
  function leave(flight: Flight): void {
    if (inFlight.get(flight.key) === flight) inFlight.delete(flight.key);
  }

  /** Settles every flight; never throws. */
  async function fly(source: VariantSource, flights: readonly Flight[]): Promise<void> {
    try {
      const missing = await landExisting(flights);
      if (missing.length > 0) await make(source, missing);
    } catch (error) {
      for (const flight of flights) fail(flight, error);
    }
  }

  async function landExisting(flights: readonly Flight[]): Promise<readonly Flight[]> {
    const heads = await stored(Promise.all(flights.map(({ key }) => publicObjects.head(key))));
    return flights.filter((flight, index) => {
      const head = heads[index];
      if (head !== undefined) land(flight, head.size);
      return head === undefined;
    });
  }

  async function make(source: VariantSource, flights: readonly Flight[]): Promise<void> {
    const { made, ended, stillStands } = await render(source, flights);
    // What was made before another job failed is kept all the same: a repeat then has less to do.
    if (made.length > 0) await keep(made, stillStands);
    for (const { flight, output } of made) land(flight, output.length);
    // When it fails, the next variant that is made tries again.
    if (made.length > 0) await removeOlder(source, stillStands).catch(() => undefined);
    if (ended.status === 'rejected') throw ended.reason;
  }

  async function render(source: VariantSource, flights: readonly Flight[]) {
    const release = await places.acquire();
    try {
      const { bytes, stillStands } = await source.read();
      const outputs: Made[] = [];
      const jobs = flights.map((flight) => ({
        transform: flight.transform,
        deliver: (output: Uint8Array) => outputs.push({ flight, output }),
      }));
      const [ended] = await Promise.allSettled([engine.transform(bytes, jobs)]);
      // After a failure the library may still be reading.
      if (ended.status === 'fulfilled') free(bytes);
      // A copy: a job that ends after the deadline comes too late.
      return { made: [...outputs], ended, stillStands };
    } finally {
      release();
    }
  }

  /** Writes the variants; takes them back when their source went, or was replaced, in the meantime. */
  async function keep(made: readonly Made[], stillStands: () => Promise<boolean>): Promise<void> {
    const writes = await Promise.allSettled(
      made.map(({ flight: { key, transform }, output }) =>
        publicObjects.put(key, output, {
          contentType: contentTypes[transform.format],
          cacheControl,
          size: output.length,
          reproducible: true,
        }),
      ),
    );
    try {
      if (!(await stillStands())) throw new SourceFault('absent', 'the source went while its variants were made');
    } catch (error) {
      await removeAll(made.map(({ flight }) => flight.key));
      throw error;
    }
    const failed = writes.find((write) => write.status === 'rejected');
    if (failed) throw new StoreFault('a variant could not be written', { cause: failed.reason });
  }

  /** What was made of a source before it was replaced in place. */
  async function removeOlder(source: VariantSource, stillStands: () => Promise<boolean>): Promise<void> {
    if (source.version === undefined) return;
    const current = names.versionPrefix(source);
    const keys = await stored(gather(publicObjects, [names.prefix(source)]));
    const older = keys.filter((key) => !key.startsWith(current));
    // Asked after the listing: if the source was replaced since, the others may be of its new bytes.
    if (older.length > 0 && (await stillStands())) await removeAll(older);
  }

  async function removeAll(keys: readonly string[]): Promise<number> {
    const { removed, failed } = await stored(publicObjects.remove(keys));
    if (failed.length > 0) throw new StoreFault('variants could not be removed', { cause: failed });
    return removed.length;
  }

  async function forgetAll(sources: readonly NamedSource[]): Promise<number> {
    const keys = await stored(gather(publicObjects, sources.map(names.prefix)));
    return keys.length === 0 ? 0 : removeAll(keys);
  }

  return {
    ensure: async (source, asked) => {
      const started: Flight[] = [];
      // Nothing is awaited before every key has its flight: two requests cannot slip past each other.
      const awaited = asked.map(async (one) => {
        const { transform } = one;
        const key = names.key(source, transform);
        const size = await (inFlight.get(key) ?? takeOff(key, transform, started)).promise;
        return { ...one, key, size, overBudget: transform.maxBytes > 0 && size > transform.maxBytes };
      });
      if (started.length > 0) void fly(source, started);
      return Promise.all(awaited);
    },
    forget: (source) => forgetAll([source]),
    forgetAll,
    names,
  };
}

async function stored<Result>(asking: Promise<Result>): Promise<Result> {
  try {
    return await asking;
  } catch (error) {
    throw new StoreFault('the public bucket does not answer', { cause: error });
  }
}
