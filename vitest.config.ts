import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'data/**'],
    // One module graph per worker, so forty files start in under a second. Tests must not leave global state.
    isolate: false,
    pool: 'forks',
    maxWorkers: 2,
    // These limits only end tests that hang, on a machine that may be busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: ['default', './test/plain-summary.ts'],
    env: { LOG_LEVEL: 'silent' },
  },
});
