import { defineConfig } from 'vitest/config';
import { isNightly } from './test/lane.fixture.ts';
import LongestFirst from './test/runner/longestfirst.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'data/**', ...(isNightly ? [] : ['test/nightly/**'])],
    // One module graph per worker, so forty files start in under a second. Tests must not leave global state.
    isolate: false,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // These limits only end tests that hang, on a machine that may be busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: ['default', './test/plain-summary.ts'],
    env: { LOG_LEVEL: 'silent' },
  },
});
