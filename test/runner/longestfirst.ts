/**
 * Starts the longest files first, so that all workers finish at about the same time. Vitest does this only if it has the
 * durations of an earlier run, which a CI machine does not have.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From the repository's root, the longest first. */
export const longest: readonly string[] = [
  'test/soak/soak.nightly.test.ts',
  'test/agent/rolling.nightly.test.ts',
  'test/notify/scheduledcrashes.nightly.test.ts',
  'test/console/console.test.ts',
  'test/client/installed.test.ts',
  'test/notify/crashes.test.ts',
  'test/agent/userevents.test.ts',
  'test/media/processes.test.ts',
  'test/media/processingcrashes.test.ts',
  'test/operations/move.test.ts',
  'test/acceptance/start.test.ts',
  'test/agent/kills.test.ts',
  'test/operations/backup.test.ts',
  'test/operations/datafolder.test.ts',
  'test/documentation/code.test.ts',
  'src/platform/db/pglite.test.ts',
  'test/deploy/image.test.ts',
  'test/agent/threadkills.test.ts',
  'test/acceptance/importlegacy.test.ts',
  'src/media/tasks/limits.http.test.ts',
  'test/agent/streams.test.ts',
  'src/edge/slowclients.http.test.ts',
  'src/platform/jobs/kills.test.ts',
  'test/acceptance/sweep.test.ts',
  'src/platform/db/db.test.ts',
  'src/media/copying/copying.test.ts',
  'test/operations/audit.test.ts',
  'test/agent/limits.test.ts',
  'src/platform/objects/objects.test.ts',
  'src/agent/runs/limits.http.test.ts',
  'test/acceptance/combinations.test.ts',
  'src/notify/emails.http.test.ts',
  'test/agent/restarts.test.ts',
  'src/auth/sessions.http.test.ts',
  'src/platform/jobs/jobs.test.ts',
  'test/operations/rotation.test.ts',
  'test/operations/doctor.test.ts',
  'src/media/watermarks/videowatermark.http.test.ts',
  'src/media/video/branding.test.ts',
  'src/media/watermarks/watermarkcache.http.test.ts',
  'src/memory/merging/pairs.test.ts',
  'test/acceptance/rescreen.test.ts',
  'src/media/screening/pdq.test.ts',
  'src/platform/db/migrations.test.ts',
  'src/image/engine/variants.test.ts',
  'src/media/video/ffmpeg.test.ts',
  'src/agent/runs/expiry.http.test.ts',
  'src/media/sweeping/sweep.test.ts',
  'src/memory/changes/races.test.ts',
  'test/auth/races.test.ts',
  'test/operations/jobs-upgrade.test.ts',
  'src/media/tasks/videofaults.test.ts',
  'src/edge/resizing.http.test.ts',
  'src/platform/http/slowclients.http.test.ts',
  'src/image/engine/engine.test.ts',
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
