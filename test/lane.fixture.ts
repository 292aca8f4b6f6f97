/**
 * Two lanes: the quick one (`npm test`, `.ci/run`) runs a representative part of each promise on every change; the nightly
 * one (`.ci/nightly`) runs everything, before a release. Files named
 * `*.nightly.test.ts` run in the nightly lane only.
 */
export const isNightly = process.env.TEST_LANE === 'nightly';

/** Expects the embedded engines before the distributed ones. The quick lane gets the last available one, the nightly lane all. */
export function inLane<Engine extends { readonly missing: boolean }>(engines: readonly Engine[]): readonly Engine[] {
  return isNightly ? engines : engines.filter(({ missing }) => !missing).slice(-1);
}

/** Returns all items in the nightly lane, and every `nth`, from the first, in the quick lane. */
export function everyNth<Item>(items: readonly Item[], nth: number): readonly Item[] {
  return isNightly ? items : items.filter((_, index) => index % nth === 0);
}
