/**
 * Ends a test run with one plain line that any CI can parse: `N passed, N failed, N skipped`. Before it, names the tests that
 * passed only when they were repeated.
 */
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[], _reason: TestRunEndReason): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      // In a skipped file, tests inside nested suites stay pending, because they were never meant to run.
      const isSkipped = module.state() === 'skipped';
      for (const test of tests) {
        const { state, errors } = test.result();
        if (test.diagnostic()?.flaky)
          process.stdout.write(
            `passed when repeated: ${module.relativeModuleId} > ${test.fullName}: ${errors?.[0]?.message.split('\n', 1)[0]}\n`,
          );
        count[state === 'pending' && isSkipped ? 'skipped' : state] += 1;
      }
      // A file that does not load, or whose hook fails, counts as failed even if none of its tests ran.
      if (tests.every((test) => test.result().state !== 'failed') && !module.ok()) count.failed += 1;
    }
    const failed = count.failed + count.pending + unhandled.length;
    process.stdout.write(`\n${count.passed} passed, ${failed} failed, ${count.skipped} skipped\n`);
  }
}
