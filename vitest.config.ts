import { defineConfig } from 'vitest/config';
import { isNightly } from './test/lane.fixture.ts';
import { testedBuild, useBuild } from './test/runner/build.ts';
import LongestFirst from './test/runner/longestfirst.ts';

export default defineConfig({
  plugins: [testedBuild],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'data/**', ...(isNightly ? [] : ['**/*.nightly.test.ts'])],
    // One module graph per worker, so forty files start in under a second. Tests must not leave global state.
    isolate: false,
    pool: 'forks',
    // More than twice the processors of a CI machine, because many tests wait for timers, kills and other programs.
    maxWorkers: 5,
    globalSetup: ['test/runner/leftovers.ts'],
    sequence: { sequencer: LongestFirst },
    // These limits only end tests that hang, on a machine that may be busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine must not fail a release. The summary names each test that passed only when it was repeated.
    retry: process.env.CI === 'true' && !isNightly ? 1 : 0,
    expect: { poll: { timeout: 10_000 } },
    reporters: ['default', './test/plain-summary.ts'],
    // Failures name the sources.
    execArgv: ['--enable-source-maps'],
    env: { LOG_LEVEL: 'silent', ...useBuild },
  },
});
