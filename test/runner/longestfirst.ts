/**
 * Starts the longest files first, so that both workers finish at about the same time. Vitest does this only if it has the
 * durations of an earlier run, which a CI machine does not have.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From the repository's root, the longest first. */
export const longest: readonly string[] = [
  'test/soak/soak.nightly.test.ts',
  'test/agent/rolling.nightly.test.ts',
  'test/console/console.test.ts',
  'test/agent/kills.test.ts',
  'test/acceptance/combinations.test.ts',
  'test/media/processingcrashes.test.ts',
  'src/media/tasks/limits.http.test.ts',
  'src/media/tasks/tasks.http.test.ts',
  'test/operations/datafolder.test.ts',
  'test/operations/move.test.ts',
  'test/acceptance/start.test.ts',
  'test/documentation/code.test.ts',
  'test/client/installed.test.ts',
  'src/media/screening/screening.http.test.ts',
  'src/auth/sessions.http.test.ts',
  'src/media/tasks/videofaults.test.ts',
  'test/media/processes.test.ts',
  'test/agent/cuts.test.ts',
  'test/agent/processes.test.ts',
  'src/platform/objects/objects.test.ts',
  'src/notify/idempotency.http.test.ts',
  'src/platform/jobs/kills.test.ts',
  'src/memory/search/recall.test.ts',
  'test/media/crashes.test.ts',
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.indexOf(relative(this.ctx.config.root, moduleId));
      return index === -1 ? longest.length : index;
    };
    return others.sort((one, other) => rank(one) - rank(other));
  }
}
