/**
 * Makes variants and stores them as public objects (docs/specification/image.md#ensure), for the image service and the
 * edge. Needs no record: the key of a variant is computed, and the object store shows whether it exists.
 */
import { createLru } from '#platform/cache/cache.ts';
import { type Clock, systemClock } from '#platform/clock.ts';
import { gather } from '#platform/objects/gathering.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { type Engine, type EngineLimits, EngineTimeout, type Transform } from './engine.ts';
import { mimeOfFormat } from './formats.ts';
import { createVariantNames, isShelved, type VariantNames } from './keys.ts';
import { createPermits } from './permits.ts';
import { free, type NamedSource, SourceFault, type VariantSource } from './sources.ts';
import { isOwnTransform } from './specs.ts';

export interface Variant {
  /** In the public bucket. */
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Larger than its transform's `maxBytes`, because it cannot be made smaller. */
  readonly overBudget: boolean;
}

export interface VariantMaker {
  /**
   * Returns the requested variants in order, each with its request. Each existing one costs one existence check. The
   * missing ones are made from one read of the source. Throws SourceFault, StoreFault, ImageFault, EnlargementFault,
   * EngineBusy, EngineTimeout; the last one at once for 10 minutes after a transform took too long alone.
   */
  ensure<Requested extends { readonly transform: Transform }>(
    source: VariantSource,
    requested: readonly Requested[],
  ): Promise<readonly (Requested & Variant)[]>;
  /**
   * Returns one variant, for transforms that the public can choose. Of each source the 64 that were used last are stored,
   * and the thumbnail and the preview in any case. A budget is never exceeded. Throws as `ensure` does, and BudgetFault.
   */
  serve(source: VariantSource, transform: Transform): Promise<Variant>;
  /**
   * Removes all variants of sources and returns their number. Call it after the sources are removed: a variant that is
   * being made is then removed by its maker. Sources of one group are listed together. Throws StoreFault.
   */
  forgetAll(sources: readonly NamedSource[]): Promise<number>;
  /** For sweeps, which determine the source of a variant from its name. */
  readonly names: Pick<VariantNames, 'prefix' | 'mark'>;
}

export interface VariantMakerOptions {
  readonly engine: Engine;
  /** SVC_IMAGE_KEY_SECRET. */
  readonly keySecret: string;
  readonly publicObjects: Objects;
  readonly limits: Pick<EngineLimits, 'concurrency' | 'permitWaitMs'>;
  readonly clock?: Clock;
}

/** The public bucket could not be read or written. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
}

type Outcome = Pick<Variant, 'key' | 'size'>;

/** A variant that a request of this process looks up or makes. */
interface Flight extends PromiseWithResolvers<Outcome> {
  readonly key: string;
  /** Where the same variant may be stored as well. */
  readonly otherKey: string | undefined;
  readonly transform: Transform;
}

interface RenderedOutput {
  readonly flight: Flight;
  readonly output: Uint8Array;
}

/** The number of sources in memory for each image that is processed, so that a slow read does not idle a processor. */
const sourcesPerPermit = 4;
/** Of all sources of variants together. One of up to 64 MiB can be alone. */
const sourceMemory = 48 * 1024 * 1024;
/** Of a source whose size is unknown. */
const usualSourceBytes = 6 * 1024 * 1024;
/** The number of stored variants of one source whose transforms the public chose. */
const mostStored = 64;
/** The time for which this process does not retry a transform that took too long. */
const timeoutRememberedMs = 10 * 60 * 1000;
const cacheControl = 'public, max-age=31536000, immutable';

export function createVariantMaker(deps: VariantMakerOptions): VariantMaker {
  const { engine, publicObjects, clock = systemClock } = deps;
  const names = createVariantNames(deps.keySecret, deps.engine.brandId);
  const places = createPermits({
    count: deps.limits.concurrency * sourcesPerPermit,
    waitMs: deps.limits.permitWaitMs,
    memory: sourceMemory,
  });
  const shelves = createShelves(publicObjects, clock);
  /** By key. An entry exists before the existence check, so that identical requests write once. */
  const inFlight = new Map<string, Flight>();
  /** The time until which the transform of each key is not retried, by the key of what `ensure` makes. */
  const timedOut = createLru<string, number>(10_000);

  function begin(key: string, otherKey: string | undefined, transform: Transform): Flight {
    const flight = { key, otherKey, transform, ...Promise.withResolvers<Outcome>() };
    inFlight.set(key, flight);
    const end = () => inFlight.delete(key);
    flight.promise.then(end, end);
    return flight;
  }

  /** Settles every flight; never throws. */
  async function findOrMake(source: VariantSource, flights: readonly Flight[]): Promise<void> {
    try {
      const missing = failTimedOut(await resolveStored(flights));
      if (missing.length > 0) await make(source, missing);
    } catch (error) {
      // Those that are settled stay as they are.
      for (const flight of flights) flight.reject(error);
    }
  }

  async function resolveStored(flights: readonly Flight[]): Promise<readonly Flight[]> {
    const found = await askStore(Promise.all(flights.map(findStored)));
    return flights.filter((flight, index) => {
      const stored = found[index];
      if (stored !== undefined) flight.resolve(stored);
      return stored === undefined;
    });
  }

  async function findStored({ key, otherKey }: Flight) {
    for (const name of otherKey === undefined ? [key] : [key, otherKey]) {
      const head = await publicObjects.head(name);
      if (head === undefined) continue;
      shelves.use(name);
      return { key: name, size: head.size };
    }
    return undefined;
  }

  function failTimedOut(flights: readonly Flight[]): readonly Flight[] {
    const isTimedOut = ({ key, otherKey }: Flight) => (timedOut.get(otherKey ?? key) ?? 0) > clock.now();
    for (const flight of flights.filter(isTimedOut)) flight.reject(new EngineTimeout('timed out a short time ago'));
    return flights.filter((flight) => !isTimedOut(flight));
  }

  async function make(source: VariantSource, flights: readonly Flight[]): Promise<void> {
    const { made, ended, stillStands } = await render(source, flights);
    // Variants that were made before another job failed are stored, so that a retry has less to do.
    if (made.length > 0) await keep(source, made, stillStands);
    // If this fails, the next variant retries it.
    if (made.length > 0) await removeOlder(source, stillStands).catch(() => undefined);
    if (ended.status === 'fulfilled') return;
    const [first] = flights;
    // Later jobs had less than the whole time.
    if (ended.reason instanceof EngineTimeout && made.length === 0 && first !== undefined)
      timedOut.set(first.otherKey ?? first.key, clock.now() + timeoutRememberedMs);
    throw ended.reason;
  }

  async function render(source: VariantSource, flights: readonly Flight[]) {
    const bytes = (await source.size?.()) ?? usualSourceBytes;
    const release = await places.acquire({ owner: source.owner, bytes });
    try {
      const { bytes: read, stillStands } = await source.read();
      const outputs: RenderedOutput[] = [];
      const jobs = flights.map((flight) => ({
        transform: flight.transform,
        deliver: (output: Uint8Array) => outputs.push({ flight, output }),
      }));
      const [ended] = await Promise.allSettled([engine.transform(read, jobs, source.owner)]);
      // After a failure the library may still be reading.
      if (ended.status === 'fulfilled') free(read);
      // A copy, because a job that ends after the deadline is ignored.
      return { made: [...outputs], ended, stillStands };
    } finally {
      release();
    }
  }

  /** Writes the variants. Removes them if their source was removed or replaced in the meantime. */
  async function keep(
    source: VariantSource,
    made: readonly RenderedOutput[],
    stillStands: () => Promise<boolean>,
  ): Promise<void> {
    const shelved = made.filter(({ flight }) => isShelved(flight.key)).length;
    if (shelved > 0) await askStore(shelves.makeRoom(names.prefix(source), shelved));
    const writes = await Promise.allSettled(
      made.map(({ flight: { key, transform }, output }) =>
        publicObjects.put(key, output, {
          contentType: mimeOfFormat[transform.format],
          cacheControl,
          size: output.length,
          reproducible: true,
        }),
      ),
    );
    try {
      if (!(await stillStands()))
        throw new SourceFault('absent', 'the source was removed while its variants were generated');
    } catch (error) {
      await removeAll(made.map(({ flight }) => flight.key));
      throw error;
    }
    const failed = writes.find((write) => write.status === 'rejected');
    if (failed?.reason instanceof Problem && failed.reason.code === 'storage_full') throw failed.reason;
    if (failed) throw new StoreFault('a variant could not be written', { cause: failed.reason });
    for (const { flight, output } of made) {
      shelves.use(flight.key);
      flight.resolve({ key: flight.key, size: output.length });
    }
  }

  /** Variants of a source from before it was replaced in place. */
  async function removeOlder(source: VariantSource, stillStands: () => Promise<boolean>): Promise<void> {
    if (source.version === undefined) return;
    const current = names.versionPrefix(source);
    const keys = await askStore(gather(publicObjects, [names.prefix(source)]));
    const older = keys.filter((key) => !key.startsWith(current));
    // Requested after the listing. If the source was replaced since, the others may have its new bytes.
    if (older.length > 0 && (await stillStands())) await removeAll(older);
  }

  async function removeAll(keys: readonly string[]): Promise<number> {
    const { removed, failed } = await askStore(publicObjects.remove(keys));
    if (failed.length > 0) throw new StoreFault('variants could not be removed', { cause: failed });
    return removed.length;
  }

  async function forgetAll(sources: readonly NamedSource[]): Promise<number> {
    const keys = await askStore(gather(publicObjects, sources.map(names.prefix)));
    return keys.length === 0 ? 0 : removeAll(keys);
  }

  async function ensureAll<Requested extends { readonly transform: Transform }>(
    source: VariantSource,
    requested: readonly Requested[],
    storing: 'always' | 'shelved',
  ): Promise<readonly (Requested & Variant)[]> {
    const started: Flight[] = [];
    // Every key gets its flight before the first await, so that identical requests share it.
    const awaited = requested.map(async (one) => {
      const { transform } = one;
      const fixedKey = names.key(source, transform);
      const isFixed = storing === 'always' || isOwnTransform(transform);
      const key = isFixed ? fixedKey : names.shelvedKey(source, transform);
      let flight = inFlight.get(key);
      if (flight === undefined) {
        flight = begin(key, isFixed ? undefined : fixedKey, transform);
        started.push(flight);
      }
      const outcome = await flight.promise;
      return { ...one, ...outcome, overBudget: transform.maxBytes > 0 && outcome.size > transform.maxBytes };
    });
    if (started.length > 0) void findOrMake(source, started);
    return Promise.all(awaited);
  }

  return {
    ensure: (source, requested) => ensureAll(source, requested, 'always'),
    serve: async (source, transform) => {
      const requested = transform.maxBytes > 0 ? { ...transform, shrinks: true as const } : transform;
      const [variant] = await ensureAll(source, [{ transform: requested }], 'shelved');
      if (variant === undefined) throw new Error('one variant was requested');
      return variant;
    },
    forgetAll,
    names,
  };
}

async function askStore<Result>(asking: Promise<Result>): Promise<Result> {
  try {
    return await asking;
  } catch (error) {
    throw new StoreFault('the public bucket does not respond', { cause: error });
  }
}

// Keeps the stored variants of a source that were used last, of transforms that the public can choose.

/**
 * A process knows its own uses since its start. Other variants count from the time at which they were stored, so a
 * variant that only other processes use can be removed. Its next use stores it again.
 */
function createShelves(objects: Objects, clock: Clock) {
  const usedAt = createLru<string, number>(100_000);
  return {
    /** Notes the use of a stored variant. */
    use: (key: string): void => {
      if (isShelved(key)) usedAt.set(key, clock.now());
    },
    /** Removes the variants that were not used for longest until `count` more fit. Rejects if the store does not respond. */
    makeRoom: async (prefix: string, count: number): Promise<void> => {
      const stored: { readonly key: string; readonly at: number }[] = [];
      for await (const { key, modifiedAt } of objects.list(prefix))
        if (isShelved(key)) stored.push({ key, at: Math.max(modifiedAt.getTime(), usedAt.get(key) ?? 0) });
      const excess = stored.length + count - mostStored;
      if (excess <= 0) return;
      const oldest = stored.sort((left, right) => left.at - right.at).slice(0, excess);
      await objects.remove(oldest.map(({ key }) => key));
    },
  };
}
