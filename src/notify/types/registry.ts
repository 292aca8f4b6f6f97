/** The available notifications: the built-in ones, and those of the operator's folder. */
import { accountDeleted, accountDeletionScheduled, accountExportReady } from './account.ts';
import { budgetReached } from './budgetreached.ts';
import { dailyDigest } from './dailydigest.ts';
import { contentDecision, reportDecision } from './decisions.ts';
import type { NotificationType } from './notification.ts';
import { readTemplates } from './templates.ts';

export interface TypeRegistry {
  find(name: string): NotificationType | undefined;
  /** By name. */
  list(): readonly NotificationType[];
}

export const builtInTypes = [
  dailyDigest,
  accountDeletionScheduled,
  accountDeleted,
  accountExportReady,
  budgetReached,
  contentDecision,
  reportDecision,
];

/**
 * `templatesDir`: NOTIFY_TEMPLATES_DIR. A type there replaces the built-in one of the same name. Throws StartFault for
 * an incomplete folder.
 */
export async function openTypes(templatesDir: string | undefined): Promise<TypeRegistry> {
  const ours: readonly NotificationType[] = builtInTypes;
  const theirs = templatesDir === undefined ? [] : await readTemplates(templatesDir);
  const types = new Map([...ours, ...theirs].map((type) => [type.name, type]));
  return {
    find: (name) => types.get(name),
    list: () => [...types.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}
