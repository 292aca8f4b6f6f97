/**
 * Two lanes: the quick one (`npm test`, `.ci/run`) runs a representative part of each promise on every change; the nightly
 * one (`.ci/nightly`) runs everything, before a release. Files under `test/nightly` run in the nightly lane only.
 */
export const isNightly = process.env.TEST_LANE === 'nightly';
