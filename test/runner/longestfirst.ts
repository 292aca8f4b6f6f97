/**
 * Starts the longest files first, so that no worker is left alone with a long one at the end. Vitest does so only where it
 * has the durations of an earlier run; a CI machine has none.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From the repository's root, the longest first. */
export const longest: readonly string[] = [];

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
