/** What can be notified of: one file per type, listed here. */
import { accountDeleted } from './accountdeleted.ts';
import { accountDeletionScheduled } from './accountdeletionscheduled.ts';
import { dailyDigest } from './dailydigest.ts';
import type { NotificationType } from './notification.ts';

const types: readonly NotificationType[] = [dailyDigest, accountDeletionScheduled, accountDeleted];

export function findType(name: string): NotificationType | undefined {
  return types.find((type) => type.name === name);
}
