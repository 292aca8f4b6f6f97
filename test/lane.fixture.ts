/**
 * Two lanes: the quick one (`npm test`, `.ci/run`) runs a representative part of each promise on every change; the nightly
 * one (`.ci/nightly`) runs everything, before a release. Files under `test/nightly` run in the nightly lane only.
 */
export const isNightly = process.env.TEST_LANE === 'nightly';

/** Of engines, from the embedded to the distributed ones: the last that is there in the quick lane, all in the nightly lane. */
export function inLane<Engine extends { readonly missing: boolean }>(engines: readonly Engine[]): readonly Engine[] {
  return isNightly ? engines : engines.filter(({ missing }) => !missing).slice(-1);
}

/** All at night; in the quick lane the first and every `nth` after it. */
export function everyNth<Item>(items: readonly Item[], nth: number): readonly Item[] {
  return isNightly ? items : items.filter((_, index) => index % nth === 0);
}
